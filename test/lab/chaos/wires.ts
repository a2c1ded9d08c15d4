import type { System } from "../../../infra/local/loopback.ts";

/** A request that needs the connection; `download` is the messenger's, of the media at a URL. */
export type Ask =
  | "residents"
  | "categories"
  | "login"
  | "refresh"
  | "ticket"
  | "employees"
  | "text"
  | "file"
  | "state"
  | "download";

/** What callers get while one connection inside the system fails; afterwards, 200 again without a restart. */
export interface WireRow {
  /** The connection that fails: to this system. `first use` is that by a function that has just started. */
  readonly wire: System | "secrets, first use" | "media host";
  readonly asks: readonly Ask[];
  /** Status and code; for `stall` and `rubbish` too, unless they differ. */
  readonly outcome: string;
  readonly stall?: string | RegExp;
  readonly rubbish?: RegExp;
  /** The answer arrives within this time. */
  readonly withinSeconds: number;
  /** For `slow`, where each piece is late by a fifth of a second: 200 within the same time, unless it differs. */
  readonly slow?: { readonly outcome: string; readonly withinSeconds: number };
}

const withOneStatement = ["residents", "categories", "refresh"] as const;
const withSeveralStatements = ["login", "ticket"] as const;
const fromDatabase = [...withOneStatement, ...withSeveralStatements] as const;

export const wireTable: readonly WireRow[] = [
  { wire: "database", asks: withOneStatement, outcome: "500 internal_error", withinSeconds: 5 },
  {
    wire: "database",
    asks: withSeveralStatements,
    outcome: "500 internal_error",
    withinSeconds: 5,
    slow: { outcome: "200", withinSeconds: 10 },
  },
  {
    wire: "database",
    asks: ["text"],
    outcome: "503 SESSION_UNAVAILABLE",
    // not accepted if the sender was not counted within the last second: then nothing was stored
    stall: /^503 (OUTCOME_UNKNOWN|SESSION_UNAVAILABLE)$/,
    // the driver waits for the rest of what looks like a long answer, or the connection was closed before
    rubbish: /^503 (OUTCOME_UNKNOWN|SESSION_UNAVAILABLE)$/,
    withinSeconds: 10,
  },
  { wire: "database", asks: ["state"], outcome: "503 SESSION_UNAVAILABLE", withinSeconds: 10 },
  { wire: "database", asks: ["employees"], outcome: "200", withinSeconds: 10 },
  // secrets are cached, and a cached one stays in use while it cannot be read
  {
    wire: "secrets",
    asks: [...fromDatabase, "employees", "text", "state"],
    outcome: "200",
    withinSeconds: 10,
  },
  { wire: "secrets, first use", asks: fromDatabase, outcome: "500 internal_error", withinSeconds: 15 },
  { wire: "secrets, first use", asks: ["text", "state"], outcome: "500 INTERNAL_ERROR", withinSeconds: 15 },
  {
    wire: "legacy login",
    asks: ["login"],
    outcome: "502 bad_gateway",
    stall: "504 timeout",
    withinSeconds: 10,
  },
  {
    wire: "employee system",
    asks: ["ticket", "employees"],
    outcome: "502 bad_gateway",
    stall: "504 timeout",
    withinSeconds: 10,
  },
  { wire: "messenger", asks: ["text"], outcome: "503 OUTCOME_UNKNOWN", withinSeconds: 10 },
  { wire: "messenger", asks: ["state"], outcome: "503 SESSION_UNAVAILABLE", withinSeconds: 10 },
  // accepted, and sent when the platform answers again
  { wire: "platform", asks: ["text", "file", "state"], outcome: "200", withinSeconds: 10 },
  { wire: "media upload", asks: ["file"], outcome: "200", withinSeconds: 10 },
  // `download` by the messenger: what is wrong at the URL is the caller's to correct
  { wire: "media host", asks: ["download"], outcome: "400 invalid_request", withinSeconds: 25 },
];
