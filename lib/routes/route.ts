import type * as z from "zod/mini";
import type { Envelope } from "#lib/errors/envelope.ts";
import type { ErrorName } from "#lib/errors/table.ts";
import type { Secrets } from "#lib/secrets/table/table.ts";

type Area = "employee" | "resident" | "tourism" | "messaging" | "docs";

/**
 * `resident:number` adds searches by identity number, which answer whether a guessed number exists. `resident:verify`
 * reveals no data.
 */
export const partnerScopes = ["resident:read", "resident:number", "resident:verify"] as const;
export type PartnerScope = (typeof partnerScopes)[number];
export type AccountScope = "employee:read" | "employee:ticket";

/**
 * Who may call: anyone, a partner agency with a key of this scope, an account with a token of this scope, or a
 * backend with the messaging credentials.
 */
export type Auth =
  | { readonly kind: "public" }
  | { readonly kind: "apiKey"; readonly scope: PartnerScope }
  | { readonly kind: "bearer"; readonly scope: AccountScope }
  | { readonly kind: "basic" };

/** Environment variables with the URLs of the legacy systems. */
export type LegacySystem = "LEGACY_AUTH_URL" | "EMPLOYEE_SYSTEM_URL";

/** Environment variables with the URLs of the legacy systems and the messenger. */
export type Upstream = LegacySystem | "MESSENGER_URL";

/** Environment variables with the public addresses of the stage's APIs. */
export type Address = "INTEGRATION_ADDRESS" | "MESSAGING_ADDRESS" | "AUDIT_ANCHORS_URL";

export interface Rate {
  readonly requestsPerSecond: number;
  readonly burst: number;
}

export type Encoding = "json" | "form" | "raw" | "multipart";

/** One row of the route table, the only source of the AWS template, the local gateway and the documents. */
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
  readonly method: "GET" | "POST" | "DELETE";
  /** Also answers HEAD, by which clients and link checkers ask whether an address exists and has changed. */
  readonly head?: boolean;
  /**
   * A segment in braces, as in `/messages/{id}`, matches any segment, and the last one with a plus, as in
   * `/docs/{path+}`, all further ones; `params` validates its value.
   */
  readonly path: `/${string}`;
  readonly summary: string;
  readonly auth: Auth;
  readonly params?: z.ZodMiniType<P>;
  /** Schema of the headers that the endpoint reads, with lower-case names. */
  readonly headers?: z.ZodMiniType<H>;
  /** Schema of the query parameters; a repeated parameter is rejected before validation. */
  readonly query?: z.ZodMiniType<Q>;
  /** Query parameters that are ignored. Any other unknown one is a 400. */
  readonly ignoredQuery?: readonly string[] | "all";
  /** Schema of the body; an empty one is read as `{}`. */
  readonly body?: z.ZodMiniType<B>;
  /** JSON by default; raw is a Buffer of the bytes; multipart needs `multipartEndpoint`. */
  readonly encoding?: E;
  /** Largest JSON body or form; 64 KiB by default. */
  readonly maxBodyBytes?: number;
  readonly reply: z.ZodMiniType<R>;
  readonly errors: Envelope;
  /** Faults of the endpoint itself, besides those that auth, input and upstreams imply. */
  readonly failures?: readonly ErrorName[];
  readonly secrets: Secrets;
  readonly upstreams?: readonly Upstream[];
  readonly addresses?: readonly Address[];
  /** Public caching: `Cache-Control`, `ETag` and 304. Without it, `no-store`. */
  readonly cache?: { readonly maxAgeSeconds: number };
  /** Allows pages of any origin to read the response. */
  readonly cors?: boolean;
  /** Rate for all callers together, when lower than the gateway's default. */
  readonly throttle?: Rate;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
}

/**
 * Infers the row's types from its schemas; at run time it returns the row.
 *
 * A call that is marked as pure, without spread or call inside, is left out of the bundles that do not use it.
 */
export const route = <Q, B, R, P, H, const F extends Route["fn"], E extends Encoding = "json">(
  row: Route<Q, B, R, E, P, H> & { readonly fn: F },
): Route<Q, B, R, E, P, H> & { readonly fn: F } => row;

/** The HTTP methods of a row. */
export const methodsOf = ({ method, head }: Pick<Route, "method" | "head">): readonly string[] =>
  head ? [method, "HEAD"] : [method];

/** Request headers that a preflight allows: those that endpoints read, and those that tracing and scripts add. */
export const preflightHeaders = [
  ...["content-type", "if-none-match", "cache-control", "x-requested-with"],
  ...["traceparent", "tracestate", "baggage", "sentry-trace"],
] as const;

/** The functions of the rows that a module of routes exports. */
export type FunctionIn<Rows> = Extract<Rows[keyof Rows], Pick<Route, "fn">>["fn"];

/** A reply that is sent as is, with its own headers. */
export class PlainReply {
  /** Bytes are sent in base64, which the gateway decodes. */
  readonly content: string | Buffer;
  readonly headers: Readonly<Record<string, string>>;
  readonly status: number;

  constructor(
    content: string | Buffer,
    headers: Readonly<Record<string, string>> & { "content-type": string },
    status = 200,
  ) {
    this.content = content;
    this.headers = headers;
    this.status = status;
  }
}
