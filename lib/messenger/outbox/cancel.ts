import type postgres from "postgres";
import { ApiError } from "#lib/errors/api-error.ts";
import { notWaiting } from "#lib/errors/table.ts";
import type { MessageState } from "#lib/messaging/submission.ts";
import { leftBefore, waits } from "./lifecycle.ts";
import { detachMedia } from "./media.ts";
import { lockedInOrder } from "./message.ts";
import { type StateRow, stateColumns, toState } from "./state.ts";

const deadlockDetected = "40P01";

/**
 * Cancels a message that waits and of which nothing may have left. It and the statement that takes a message to send it
 * both change only a PENDING row: whichever is first.
 *
 * @returns its state, also when it was cancelled before; undefined for an unknown id, and for that of another sender.
 * @throws ApiError 409 once it is being sent, may have been sent, or has ended.
 */
export const cancel = async (
  sql: postgres.Sql,
  id: string,
  sender: string,
): Promise<MessageState | undefined> => {
  const [cancelled] = await sql<(StateRow & { mediaId: number | null })[]>`
    update messaging.message set state = 'CANCELLED', reason = null, changed_at = now()
    where id = ${id} and sender = ${sender} and ${waits(sql)} and not ${leftBefore(sql)}
    returning ${stateColumns(sql)}, media_id as "mediaId"`;
  if (cancelled) {
    if (cancelled.mediaId !== null) await detachMedia(sql, cancelled.mediaId);
    return toState(cancelled);
  }
  const [row] = await sql<StateRow[]>`
    select ${stateColumns(sql)} from messaging.message where id = ${id} and sender = ${sender}`;
  if (row && row.status !== "CANCELLED") throw new ApiError(notWaiting);
  return row && toState(row);
};

/**
 * Cancels a bulk run, in one transaction: it hands over no more messages, and those that wait are cancelled as by {@link cancel}.
 *
 * @returns how many were cancelled; undefined if there is no such run.
 */
export const cancelRun = async (sql: postgres.Sql, name: string): Promise<number | undefined> => {
  const cancelIt = () =>
    sql.begin(async (transaction) => {
      const [ended] = await transaction<{ run: string | null }[]>`
        select notification.cancel_bulk(${name}) as run`;
      if (!ended?.run) return undefined;
      const { count } = await transaction`
        update messaging.message set state = 'CANCELLED', reason = null, changed_at = now()
        where ${lockedInOrder(transaction, transaction`run = ${ended.run} and ${waits(transaction)}`)}`;
      return count;
    });
  return cancelIt().catch((error: { code?: string }) => {
    if (error.code !== deadlockDetected) throw error;
    return cancelIt();
  });
};
