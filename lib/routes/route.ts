import type * as z from "zod/mini";
import type { Envelope } from "#lib/http/envelope.ts";

type Area = "resident" | "tourism";
export type Scope = "resident:read";

/** Who may call: anyone, or a partner agency whose key holds the scope. */
export type Auth = { kind: "public" } | { kind: "apiKey"; scope: Scope };

/**
 * Secrets that a function reads: environment variable → name of the secret within the stage.
 * The function's role may read exactly these.
 */
export type Secrets = Readonly<
  Partial<Record<"DATABASE_SECRET_ID" | "AUDIT_PEPPER_SECRET_ID", `database/${string}` | "audit-pepper">>
>;

/** One row of the route table. The AWS template, the local gateway and the documents read nothing else. */
export interface Route<Q = unknown, B = unknown, R = unknown> {
  /** Module under `functions/`; with a dash for the slash it is the operation's id. */
  readonly fn: `${Area}/${string}`;
  readonly method: "GET" | "POST";
  readonly path: `/${string}`;
  readonly summary: string;
  readonly auth: Auth;
  /** Schema of the query parameters; a parameter that is sent twice is refused before it is read. */
  readonly query?: z.ZodMiniType<Q>;
  /** Schema of the JSON body; an empty body is read as `{}`. */
  readonly body?: z.ZodMiniType<B>;
  readonly reply: z.ZodMiniType<R>;
  readonly errors: Envelope;
  readonly secrets: Secrets;
  /** Anyone may keep the answer: `Cache-Control`, `ETag` and 304. Without it, `no-store`. */
  readonly cache?: { readonly maxAgeSeconds: number };
  /** Pages of any origin may read the answer. */
  readonly cors?: boolean;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
}

/** Infers the row's types from its schemas; at run time it is the row. */
export const route = <Q, B, R>(row: Route<Q, B, R>): Route<Q, B, R> => row;
