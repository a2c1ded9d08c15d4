import type postgres from "postgres";
import { deadline } from "#lib/deadline.ts";

/** A database that does not respond must block neither a message nor the end of a connection. */
const timeoutMs = 5_000;

/** Counts as a lost connection. */
class Late extends Error {
  readonly code = "ETIMEDOUT";
}

/** Cancels a query that is late, so that it does not overwrite the result of a newer one. */
export const inTime = <T extends readonly postgres.MaybeRow[]>(query: postgres.PendingQuery<T>) =>
  deadline(query, timeoutMs, () => {
    query.cancel();
    return new Late(`the database did not respond within ${timeoutMs} ms`);
  });
