import type * as z from "zod/mini";
import type { Envelope } from "#lib/http/envelope.ts";

type Area = "employee" | "resident" | "tourism" | "messaging" | "docs";
/** What a partner's key may hold. */
export type PartnerScope = "resident:read";
/** What an access token may hold. */
export type AccountScope = "employee:read" | "employee:ticket";

/**
 * Who may call: anyone, a partner agency whose key holds the scope, an account whose token does, or the
 * backend that holds the messaging credentials.
 */
export type Auth =
  | { readonly kind: "public" }
  | { readonly kind: "apiKey"; readonly scope: PartnerScope }
  | { readonly kind: "bearer"; readonly scope: AccountScope }
  | { readonly kind: "basic" };

/**
 * Secrets that a function reads: environment variable → name of the secret within the stage.
 * The function's role may read exactly these.
 */
export type Secrets = Readonly<
  Partial<
    Record<
      | "DATABASE_SECRET_ID"
      | "PEPPER_SECRET_ID"
      | "TOKEN_KEY_SECRET_ID"
      | "BASIC_SECRET_ID"
      | "MESSENGER_TOKEN_SECRET_ID",
      | `database/${string}`
      | "audit-pepper"
      | "attempt-pepper"
      | "opt-out-pepper"
      | "token-key"
      | "messaging-basic"
      | "messenger-token"
    >
  >
>;

/** Addresses of the city's old systems, as environment variables that a stage gives its functions. */
export type OldSystem = "LEGACY_AUTH_URL" | "EMPLOYEE_SYSTEM_URL";

/** Addresses that a stage tells the functions that need them: of the old systems, and of the messenger. */
export type Upstream = OldSystem | "MESSENGER_URL";

/** Where a stage's own APIs are, for the functions that tell it to callers. */
export type Address = "INTEGRATION_ADDRESS" | "MESSAGING_ADDRESS";

/** A token bucket: how fast it fills, and how much it holds. */
export interface Rate {
  readonly requestsPerSecond: number;
  readonly burst: number;
}

/** How a body is written. */
export type Encoding = "json" | "form" | "multipart";

/** One row of the route table. The AWS template, the local gateway and the documents read nothing else. */
export interface Route<
  Q = unknown,
  B = unknown,
  R = unknown,
  E extends Encoding = Encoding,
  P = unknown,
  H = unknown,
> {
  /** Module under `functions/`. */
  readonly fn: `${Area}/${string}`;
  readonly method: "GET" | "POST";
  /** A segment in braces, as in `/messages/{id}`, takes any one segment; `params` says which values. */
  readonly path: `/${string}`;
  readonly summary: string;
  readonly auth: Auth;
  /** Schema of the path's segments in braces. */
  readonly params?: z.ZodMiniType<P>;
  /** Schema of the headers that the endpoint reads, their names in lower case. */
  readonly headers?: z.ZodMiniType<H>;
  /** Schema of the query parameters; a parameter that is sent twice is refused before it is read. */
  readonly query?: z.ZodMiniType<Q>;
  /** Schema of the body; an empty one is read as `{}`. */
  readonly body?: z.ZodMiniType<B>;
  /** JSON unless it says otherwise; multipart is read by `multipartEndpoint`. */
  readonly encoding?: E;
  /** Of a JSON body or a form; 64 KiB unless it says otherwise. */
  readonly maxBodyBytes?: number;
  readonly reply: z.ZodMiniType<R>;
  readonly errors: Envelope;
  readonly secrets: Secrets;
  /** The systems that the function calls. */
  readonly upstreams?: readonly Upstream[];
  /** The addresses of this stage that the function tells. */
  readonly addresses?: readonly Address[];
  /** Anyone may keep the answer: `Cache-Control`, `ETag` and 304. Without it, `no-store`. */
  readonly cache?: { readonly maxAgeSeconds: number };
  /** Pages of any origin may read the answer. */
  readonly cors?: boolean;
  /** For all callers together, where it is less than what the gateway gives every route. */
  readonly throttle?: Rate;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
}

/** Infers the row's types from its schemas; at run time it is the row. */
export const route = <Q, B, R, P, H, E extends Encoding = "json">(
  row: Route<Q, B, R, E, P, H>,
): Route<Q, B, R, E, P, H> => row;
