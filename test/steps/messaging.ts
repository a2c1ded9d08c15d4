type Credentials = { readonly username: string; readonly password: string };

export const basicHeader = ({ username, password }: Credentials): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;

/** What an answer of the messaging API says. */
interface Said {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  json: any;
}

/** A form as curl -F makes it; a Buffer is a file. */
export const formOf = (fields: Readonly<Record<string, string | Buffer>>, fileName = "a.bin"): FormData => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields))
    if (typeof value === "string") form.append(name, value);
    else form.append(name, new Blob([new Uint8Array(value)]), fileName);
  return form;
};

/** A client of the messaging API at one address. */
export const messagingClient = (baseUrl: string, credentials: Credentials) => {
  const ask = async (path: string, init: RequestInit = {}): Promise<Said> => {
    const response = await fetch(`${baseUrl}${path}`, {
      method: "POST",
      signal: AbortSignal.timeout(100_000),
      ...init,
      headers: { authorization: basicHeader(credentials), ...init.headers },
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
  };
  return {
    ask,
    sendMessage: (body: unknown, headers: Record<string, string> = {}) =>
      ask("/send/message", {
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      }),
    /** @param kind image or file */
    sendForm: (kind: string, form: FormData, headers: Record<string, string> = {}) =>
      ask(`/send/${kind}`, { headers, body: form }),
    read: (id: string) => ask(`/messages/${id}`, { method: "GET" }),
  };
};
