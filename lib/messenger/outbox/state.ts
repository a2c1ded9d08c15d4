import type postgres from "postgres";
import type { MessageState, State } from "#lib/messaging/submission.ts";

interface StateRow {
  id: string;
  state: State;
  reason: string | null;
  acceptedAt: Date;
  changedAt: Date;
}

export const findState = async (sql: postgres.ISql, id: string): Promise<MessageState | undefined> => {
  const [row] = await sql<StateRow[]>`
    select id, state, reason, accepted_at as "acceptedAt", changed_at as "changedAt"
    from messaging.message where id = ${id}`;
  return (
    row && {
      id: row.id,
      status: row.state,
      ...(row.reason !== null && { reason: row.reason }),
      accepted_at: row.acceptedAt.toISOString(),
      changed_at: row.changedAt.toISOString(),
    }
  );
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
