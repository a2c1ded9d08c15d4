import type postgres from "postgres";
import { deadline } from "#lib/deadline.ts";

/**
 * Error codes of postgres.js, Node and the server for a connection that is lost, does not respond, or leads to a server that
 * cannot serve: one that starts, stops or only reads.
 */
const codes = new Set([
  "CONNECTION_CLOSED",
  "CONNECTION_ENDED",
  "CONNECTION_DESTROYED",
  "CONNECT_TIMEOUT",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "57P01", // admin_shutdown: the server ended it
  "57P02", // crash_shutdown
  "57P03", // cannot_connect_now: it starts or stops
  "25006", // read_only_sql_transaction: the former primary of a failover
  "57P05", // idle_session_timeout: the server ended it while nobody used it
]);

/** Neither the server nor the role has a connection left. */
export const tooManyConnections = "53300";

/** Whether an error code means a lost database connection, class 08 included; the outcome of the statement is then unknown. */
export const isLostConnection = (code: string | undefined): boolean =>
  code !== undefined && (codes.has(code) || /^08...$/.test(code));

/** Node's error codes for a server that cannot be reached, such as one whose address has changed. */
const unreachableCodes = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"];
export const isUnreachable = (code: string): boolean => unreachableCodes.includes(code);

/** Of a server that takes no connection: it does not respond, it starts or stops, or it has none left. */
const unconnectedCodes = ["CONNECT_TIMEOUT", "57P03", tooManyConnections];

/**
 * Whether a statement that failed has changed nothing, because it had no connection or the server rejected it. One whose
 * connection was lost may have been committed.
 */
export const hasChangedNothing = (error: unknown): boolean => {
  const { code = "", severity } = error as { readonly code?: string; readonly severity?: string };
  return isUnreachable(code) || unconnectedCodes.includes(code) || severity === "ERROR";
};

/** A database that does not respond must block neither a message nor the end of the platform's connection. */
const defaultTimeoutMs = 5_000;

/** Counts as a lost connection. */
class Late extends Error {
  readonly code = "ETIMEDOUT";
}

/** Cancels a query that is late, so that it does not take effect afterwards. */
export const inTime = <T extends readonly postgres.MaybeRow[]>(
  query: postgres.PendingQuery<T>,
  timeoutMs = defaultTimeoutMs,
) =>
  deadline(query, timeoutMs, () => {
    query.cancel();
    return new Late(`the database did not respond within ${timeoutMs} ms`);
  });

const timeoutMs = 1_000;

/** One query in flight for each pool, until the driver ends it. */
const probes = new WeakMap<postgres.Sql, Promise<boolean>>();

const probe = (sql: postgres.Sql): Promise<boolean> => {
  const answered = sql`select 1`
    .then(
      () => true,
      () => false,
    )
    .finally(() => probes.delete(sql));
  probes.set(sql, answered);
  return answered;
};

/** Whether the database answers in time. Callers share a query: polls add none to a database that hangs. */
export const isDatabaseUp = (sql: postgres.Sql): Promise<boolean> =>
  deadline(probes.get(sql) ?? probe(sql), timeoutMs).catch(() => false);
