import type postgres from "postgres";
import { deadline } from "#lib/deadline.ts";

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
