import type { Seen } from "../../infra/local/upstream/php-server.ts";

/** An answer with its parsed body. */
export interface Said {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  json: any;
}

const read = async (response: Response): Promise<Said> => {
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
};

/** A client of the employee service at one address. */
export const employeeClient = (baseUrl: string) => ({
  login: async (username: string, password: string) =>
    read(
      await fetch(`${baseUrl}/v1/simpeg/auth/login`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ username, password }),
      }),
    ),
  refresh: async (token: string) =>
    read(
      await fetch(`${baseUrl}/v1/simpeg/auth/refresh`, {
        method: "POST",
        body: new URLSearchParams({ grant_type: "refresh_token", refresh_token: token }),
      }),
    ),
  /** @param query of `/v1/simpeg/…` */
  get: async (path: string, query: Record<string, string>, token: string) =>
    read(
      await fetch(`${baseUrl}/v1/simpeg/${path}?${new URLSearchParams(query)}`, {
        headers: { authorization: `Bearer ${token}` },
      }),
    ),
});

/** The requests that a fake legacy system has received. */
export const seenBy = async (url: string): Promise<Seen[]> =>
  (await fetch(`${url}/seen`)).json() as Promise<Seen[]>;

/** Makes a fake legacy system fail from now on. */
export const setMood = async (url: string, mood: string): Promise<void> => {
  const { status } = await fetch(`${url}/mood`, { method: "PUT", body: mood });
  if (status !== 204) throw new Error(`no mood ${mood}`);
};
