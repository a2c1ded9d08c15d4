import { basicHeader } from "../steps/messaging.ts";
import { Skipped } from "./skipped.ts";

/** What a case may use; cases whose credential is absent are skipped. */
export interface Credentials {
  /** A partner's key with all scopes. */
  readonly apiKey?: string | undefined;
  /** Of the messaging API. */
  readonly basic?: { readonly username: string; readonly password: string } | undefined;
  /** Logging in leaves a session behind; the token may read employees and get tickets. */
  readonly account?: { readonly username: string; readonly password: string } | undefined;
  /** An employee to get a ticket for. */
  readonly employee?: { readonly nip: string; readonly passphrase: string } | undefined;
  /** A number that a text may be sent to. */
  readonly phone?: string | undefined;
}

/** What a case requires. */
export type Need = keyof Credentials;

export type ApiName = "integration" | "messaging";

export interface Question {
  /** Default: the integration API. */
  readonly api?: ApiName;
  /** Default: POST. */
  readonly method?: string;
  readonly path: string;
  /** Whose credential is sent. Default: none. */
  readonly as?: "partner" | "account" | "backend";
  readonly headers?: Readonly<Record<string, string>>;
  /** A string or form is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  /** What is special about the request, for the failure report; never personal data. */
  readonly about?: string;
}

export interface Answer {
  /** Method and path, without confidential parts. */
  readonly request: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; undefined when it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  readonly json: any;
}

/** A question as it goes out. */
interface Outgoing {
  readonly api: ApiName;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | FormData | undefined;
}
export type Send = (outgoing: Outgoing) => Promise<Omit<Answer, "request" | "json">>;

/** A system under test. */
export interface System {
  readonly credentials: Credentials;
  ask(question: Question): Promise<Answer>;
  /** Logs the account in; repeated calls share one login, because each leaves a session behind. */
  logIn(): Promise<Answer>;
}

/** @throws Error when the credential is missing: the case does not declare that it needs it. */
export const credential = <N extends keyof Credentials>(
  { credentials }: Pick<System, "credentials">,
  name: N,
): NonNullable<Credentials[N]> => {
  const given = credentials[name];
  if (given === undefined) throw new Error(`the case uses ${name} without declaring it in its needs`);
  return given;
};

/** The needs that the system does not meet. */
export const missingNeeds = (system: System, needs: readonly Need[]): Need[] =>
  needs.filter((need) => system.credentials[need] === undefined);

const encode = (body: unknown): Pick<Outgoing, "headers" | "body"> => {
  if (body === undefined) return { headers: {}, body };
  if (body instanceof FormData) return { headers: {}, body };
  if (body instanceof URLSearchParams)
    return { headers: { "content-type": "application/x-www-form-urlencoded" }, body: body.toString() };
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return { headers: { "content-type": "application/json" }, body: text };
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

export const openSystem = (options: Pick<System, "credentials"> & { send: Send }): System => {
  const { credentials, send } = options;
  let login: Promise<Answer> | undefined;
  const logIn = () => {
    const body = credential(options, "account");
    login ??= ask({ path: "/v1/simpeg/auth/login", body, about: "the account" });
    return login;
  };

  const introduce = async (as: Question["as"]): Promise<Record<string, string>> => {
    switch (as) {
      case "partner":
        return { apikey: credential(options, "apiKey") };
      case "backend":
        return { authorization: basicHeader(credential(options, "basic")) };
      case "account": {
        const { json } = await logIn();
        if (!json?.token) throw new Skipped("the account cannot log in");
        return { authorization: `Bearer ${json.token}` };
      }
      default:
        return {};
    }
  };

  const ask = async ({
    api = "integration",
    method = "POST",
    path,
    as,
    ...rest
  }: Question): Promise<Answer> => {
    const { headers, body } = encode(rest.body);
    const all = { ...headers, ...(await introduce(as)), ...rest.headers };
    const answer = await send({ api, method, path, headers: all, body });
    const about = rest.about === undefined ? "" : ` with ${rest.about}`;
    const request = `${method} ${path.split("?")[0]}${about}`;
    return { ...answer, request, json: parse(answer.text) };
  };
  return { credentials, ask, logIn };
};

const timeoutMs = 15_000;

/** Sends requests to both APIs. Follows no redirects, which would forward the credential. */
export const overHttp =
  (addresses: Readonly<Record<ApiName, string>>, signal?: AbortSignal): Send =>
  async ({ api, method, path, headers, body }) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    const response = await fetch(`${addresses[api].replace(/\/+$/, "")}${path}`, {
      method,
      headers,
      ...(body !== undefined && { body }),
      redirect: "manual",
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
