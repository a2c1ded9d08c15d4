import type postgres from "postgres";
import { type ChannelName, listLeftOut } from "#lib/messaging/channel.ts";
import type { MessageState, State, Submission } from "#lib/messaging/submission.ts";
import type { Content } from "./message.ts";

/** What a sender may know of a message. */
export interface StateRow {
  readonly id: string;
  readonly status: State;
  readonly reason: string | null;
  readonly kind: Submission["kind"];
  readonly duration: number | null;
  readonly content: Pick<Content, "view_once" | "is_forwarded" | "reply_to">;
  readonly account: string | null;
  readonly channel: ChannelName | null;
  readonly acceptedAt: Date;
  readonly changedAt: Date;
}

export const stateColumns = (sql: postgres.ISql) => sql`
  message.id, message.state as status, reason, kind, (content ->> 'duration_seconds')::int as duration,
  content - 'text' - 'sealed' as content, accepted_at as "acceptedAt", changed_at as "changedAt", (
    select a.name from messaging.account a where a.id = message.account) as account, (
    select a.channel from messaging.account a where a.id = message.account) as channel`;

/** What is said of the account that has sent a message, or is to send it. */
export const describeAccount = (
  row: Pick<StateRow, "kind" | "duration" | "content" | "account" | "channel">,
): Pick<MessageState, "account" | "channel" | "left_out"> => {
  const { kind, duration, content, account, channel } = row;
  if (account === null || channel === null) return {};
  const leftOut = listLeftOut(channel, { ...content, kind, duration_seconds: duration });
  return { account, channel, ...(leftOut.length > 0 && { left_out: leftOut }) };
};

export const toState = (row: StateRow): MessageState => {
  const { id, status, reason, duration, acceptedAt, changedAt } = row;
  return {
    id,
    status,
    ...(reason !== null && { reason }),
    ...(duration !== null && { duration }),
    ...describeAccount(row),
    accepted_at: acceptedAt.toISOString(),
    changed_at: changedAt.toISOString(),
  };
};

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
