import { Pool } from "undici";
import type { Route } from "#lib/routes/route.ts";
import { integrationApi } from "../../../infra/aws/integration-api.ts";
import { messagingApi } from "../../../infra/aws/messaging-api.ts";
import type { City } from "../../../infra/local/city.ts";
import type { ApiName, Credentials } from "../../contract/system.ts";
import { basicHeader } from "../../steps/messaging.ts";

export type Headers = Readonly<Record<string, string>>;

export interface Attempt {
  readonly method: string;
  /** Sent as it is, after the API's base path. */
  readonly path: string;
  readonly headers: Headers;
  readonly body?: Buffer | string | undefined;
}

export interface Reaction {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** The system under attack. */
export interface Target {
  readonly addresses: Readonly<Record<ApiName, string>>;
  /** The same APIs without throttles, plans and limits for an address, which would keep inputs from the functions. */
  readonly unlimited: Readonly<Record<ApiName, string>>;
  readonly credentials: Credentials;
  /** An access token of the account, if one was obtained. */
  readonly token?: string | undefined;
  /** The city that runs in this process, whose parts can be reached; undefined for any other system. */
  readonly city?: City;
  /** Waits until the next request may be sent. */
  readonly pace: () => Promise<void>;
}

const timeoutMs = 30_000;

/** A route belongs to one API. */
export const apiOf = (route: Route) => (messagingApi.routes.includes(route) ? messagingApi : integrationApi);

/** Sends requests to one API as they are, from an address of this machine. */
export const openLine = (address: string, { localAddress = "", connections = 50 } = {}) => {
  const { origin, pathname } = new URL(address);
  const prefix = pathname.replace(/\/+$/, "");
  const pool = new Pool(origin, {
    connections,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    ...(localAddress && { localAddress }),
  });
  return {
    send: async ({ method, path, headers, body }: Attempt): Promise<Reaction> => {
      const answer = await pool.request({ method, path: `${prefix}${path}`, headers, body: body ?? null });
      return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
    },
    close: () => pool.close(),
  };
};

export type Line = ReturnType<typeof openLine>;

/** The header with the credential of a kind, or undefined if the target has none. */
export const credentialOf = (
  { credentials, token }: Target,
  kind: Route["auth"]["kind"],
): Headers | undefined => {
  const { apiKey, basic } = credentials;
  switch (kind) {
    case "apiKey":
      return apiKey === undefined ? undefined : { apikey: apiKey };
    case "bearer":
      return token === undefined ? undefined : { authorization: `Bearer ${token}` };
    case "basic":
      return basic && { authorization: basicHeader(basic) };
    default:
      return {};
  }
};
