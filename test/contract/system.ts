import { basicHeader } from "../steps/basic-header.ts";
import { NotAsked } from "./not-asked.ts";

/** What may be done to a system is what one has been given for it: a credential that is absent is not used. */
export interface Credentials {
  /** A partner's key with the scope `resident:read`. */
  readonly apiKey?: string | undefined;
  /** Opens the messaging API. */
  readonly basic?: { readonly username: string; readonly password: string } | undefined;
  /** Logs in, and by that leaves a session behind; its token may read employees and get tickets. */
  readonly account?: { readonly username: string; readonly password: string } | undefined;
  /** Whose ticket may be asked for. */
  readonly employee?: { readonly nip: string; readonly passphrase: string } | undefined;
  /** A number that may be sent a text. */
  readonly phone?: string | undefined;
}

/** What a case cannot do without; `gateway` is the front that a handler alone lacks. */
export type Need = keyof Credentials | "gateway";

export type ApiName = "integration" | "messaging";

export interface Question {
  /** The integration API unless it says otherwise. */
  readonly api?: ApiName;
  /** POST unless it says otherwise. */
  readonly method?: string;
  readonly path: string;
  /** Whose credential goes along; nobody's unless it says so. */
  readonly as?: "partner" | "account" | "backend";
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is when it is a string, as a form when it is one, as JSON otherwise. */
  readonly body?: unknown;
  /** What is particular about it, for whoever reads that it went wrong; never a person's data. */
  readonly about?: string;
}

export interface Answer {
  /** What was asked, without what may be confidential in it. */
  readonly asked: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body's JSON; undefined where it is none. */
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
export type Send = (outgoing: Outgoing) => Promise<Omit<Answer, "asked" | "json">>;

/** A system under test: where it is stays with `send`, what may be done to it are the credentials. */
export interface System {
  readonly credentials: Credentials;
  /** False where handlers are asked without the gateway before them. */
  readonly gateway: boolean;
  ask(question: Question): Promise<Answer>;
  /** The account's login, made once: it leaves a session behind. */
  logIn(): Promise<Answer>;
}

/** @throws Error where the system was not given it: the case did not declare that it needs it. */
export const credential = <N extends keyof Credentials>(
  { credentials }: Pick<System, "credentials">,
  name: N,
): NonNullable<Credentials[N]> => {
  const given = credentials[name];
  if (given === undefined) throw new Error(`the case uses ${name} and does not say that it needs it`);
  return given;
};

/** What the system lacks of what a case needs. */
export const lackedBy = (system: System, needs: readonly Need[]): Need[] =>
  needs.filter((need) => (need === "gateway" ? !system.gateway : system.credentials[need] === undefined));

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

export const openSystem = (options: Pick<System, "credentials" | "gateway"> & { send: Send }): System => {
  const { credentials, gateway, send } = options;
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
        if (!json?.token) throw new NotAsked("the account cannot log in");
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
    const asked = `${method} ${path.split("?")[0]}${about}`;
    return { ...answer, asked, json: parse(answer.text) };
  };
  return { credentials, gateway, ask, logIn };
};

const patienceMs = 15_000;

/** Asks two APIs at their addresses, with or without a path of their own; follows no redirect, which would take the credential along. */
export const overHttp =
  (addresses: Readonly<Record<ApiName, string>>, signal?: AbortSignal): Send =>
  async ({ api, method, path, headers, body }) => {
    const patience = AbortSignal.timeout(patienceMs);
    const response = await fetch(`${addresses[api].replace(/\/+$/, "")}${path}`, {
      method,
      headers,
      ...(body !== undefined && { body }),
      redirect: "manual",
      signal: signal ? AbortSignal.any([signal, patience]) : patience,
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
