import { type IncomingMessage, request } from "node:http";
import { text as readText } from "node:stream/consumers";
import type { Seen } from "../../infra/local/upstream/php-server.ts";

/** An answer with its parsed body. */
export interface Said {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  json: any;
}

/** Where a client's requests come from. */
interface Origin {
  /** An address of this machine, such as 127.0.7.1: its first 24 bits are the network. */
  readonly address?: string;
  readonly userAgent?: string;
}

/** A client of the employee service at one address. */
export const employeeClient = (baseUrl: string, { address, userAgent = "test" }: Origin = {}) => {
  const send = async (path: string, headers: Record<string, string>, body?: string): Promise<Said> => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const method = body === undefined ? "GET" : "POST";
    const options = {
      method,
      headers: { "user-agent": userAgent, ...headers },
      ...(address && { localAddress: address }),
    };
    request(`${baseUrl}/v1/simpeg/${path}`, options, resolve).on("error", reject).end(body);
    const response = await promise;
    const text = await readText(response);
    const received = new Headers(
      Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
    );
    return { status: response.statusCode ?? 0, headers: received, text, json: JSON.parse(text) };
  };
  return {
    login: (username: string, password: string) =>
      send("auth/login", { "content-type": "application/json" }, JSON.stringify({ username, password })),
    refresh: (token: string) =>
      send(
        "auth/refresh",
        { "content-type": "application/x-www-form-urlencoded;charset=UTF-8" },
        String(new URLSearchParams({ grant_type: "refresh_token", refresh_token: token })),
      ),
    /** @param query of `/v1/simpeg/…` */
    get: (path: string, query: Record<string, string>, token: string) =>
      send(`${path}?${new URLSearchParams(query)}`, { authorization: `Bearer ${token}` }),
  };
};

/** The requests that a fake legacy system has received. */
export const seenBy = async (url: string): Promise<Seen[]> =>
  (await fetch(`${url}/seen`)).json() as Promise<Seen[]>;

/** Makes a fake legacy system fail from now on. */
export const setFailureMode = async (url: string, failureMode: string): Promise<void> => {
  const { status } = await fetch(`${url}/mood`, { method: "PUT", body: failureMode });
  if (status !== 204) throw new Error(`no failure mode ${failureMode}`);
};

/** Closes these accounts of the fake legacy system, and opens all others. */
export const closeAccounts = async (url: string, ...ids: string[]): Promise<void> => {
  const body = new URLSearchParams(ids.map((id): [string, string] => ["id", id]));
  const { status } = await fetch(`${url}/closed`, { method: "PUT", body });
  if (status !== 200) throw new Error("the accounts could not be closed");
};
