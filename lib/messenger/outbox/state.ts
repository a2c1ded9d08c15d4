import type postgres from "postgres";
import type { MessageState, State } from "#lib/messaging/submission.ts";
import { reasons } from "./reason.ts";

/** What a sender may know of a message. */
export interface StateRow {
  readonly id: string;
  readonly status: State;
  readonly reason: string | null;
  readonly duration: number | null;
  readonly acceptedAt: Date;
  readonly changedAt: Date;
}

export const stateColumns = (sql: postgres.ISql) => sql`
  id, state as status, reason, (content ->> 'duration_seconds')::int as duration, accepted_at as "acceptedAt",
  changed_at as "changedAt"`;

export const toState = ({ id, status, reason, duration, acceptedAt, changedAt }: StateRow): MessageState => ({
  id,
  status,
  ...(reason !== null && { reason }),
  ...(duration !== null && { duration }),
  accepted_at: acceptedAt.toISOString(),
  changed_at: changedAt.toISOString(),
});

/** @param sender whose message it must be; by default anybody's. */
export const findState = async (
  sql: postgres.ISql,
  id: string,
  sender?: string,
): Promise<MessageState | undefined> => {
  const [row] = await sql<StateRow[]>`
    select ${stateColumns(sql)} from messaging.message
    where id = ${id} ${sender === undefined ? sql`` : sql`and sender = ${sender}`}`;
  return row && toState(row);
};

/**
 * Records a receipt from the recipient's phone; receipts may arrive late and in any order. A message that was
 * requeued, because its leader was lost before the answer arrived, is not sent again.
 */
export const applyReceipt = async (
  sql: postgres.Sql,
  id: string,
  state: "DELIVERED" | "READ",
): Promise<void> => {
  const before =
    state === "READ" ? "PENDING,SENDING,SENT,UNCERTAIN,DELIVERED" : "PENDING,SENDING,SENT,UNCERTAIN";
  await sql`
    update messaging.message set state = ${state}, reason = null, sent_at = coalesce(sent_at, now()), changed_at = now()
    where id = ${id} and state = any(string_to_array(${before}, ','))`;
};

/** Records that the phone could not decrypt a message, until it reports its delivery. @returns false if that was known. */
export const markUndecryptable = async (sql: postgres.Sql, id: string): Promise<boolean> => {
  const { count } = await sql`
    update messaging.message set reason = ${reasons.undecryptable}, changed_at = now()
    where id = ${id} and state in ('SENDING', 'SENT', 'UNCERTAIN') and reason is distinct from ${reasons.undecryptable}`;
  return count > 0;
};
