import type postgres from "postgres";
import { type ChannelName, listLeftOut } from "#lib/messaging/channel.ts";
import type { MessageState, State, Submission } from "#lib/messaging/submission.ts";
import { type Content, reasons } from "./message.ts";

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

/** The states that a receipt changes. */
const before = {
  SENT: "SENDING,UNCERTAIN",
  DELIVERED: "PENDING,SENDING,SENT,UNCERTAIN",
  READ: "PENDING,SENDING,SENT,UNCERTAIN,DELIVERED",
};

/**
 * Records a receipt from the recipient's phone, or what its platform says; receipts may arrive late and in any order. A
 * message that was requeued, because its leader was lost before the answer arrived, is not sent again; nor is one that has
 * gone on to another channel meanwhile. The first news of a message does what the platform's answer does, which may not follow.
 *
 * @param account that it was sent with.
 */
export const applyReceipt = async (
  sql: postgres.Sql,
  account: number,
  id: string,
  state: "SENT" | "DELIVERED" | "READ",
): Promise<void> => {
  await sql`
    with received as (
      update messaging.message set state = ${state}, reason = null, sent_at = coalesce(sent_at, now()), changed_at = now(),
        account = ${account}
      where id = ${id} and state = any(string_to_array(${before[state]}, ','))
        ${state === "SENT" ? sql`and account = ${account}` : sql``}
      returning pool, phone, number, account, sent_at
    ), sent as (
      select * from received where sent_at = now()
    ), ${rememberRecipients(sql)}`;
};

/** Records that the phone could not decrypt a message, until it reports its delivery. @returns false if that was known. */
export const markUndecryptable = async (sql: postgres.Sql, id: string): Promise<boolean> => {
  const { count } = await sql`
    update messaging.message set reason = ${reasons.undecryptable}, changed_at = now()
    where id = ${id} and state in ('SENDING', 'SENT', 'UNCERTAIN') and reason is distinct from ${reasons.undecryptable}`;
  return count > 0;
};

/**
 * Ends a statement whose rows `sent` (pool, phone, number, account) were sent: the number has these contacts, and recipients
 * know the account from now on.
 */
export const rememberRecipients = (sql: postgres.ISql) => {
  // not with each message
  const isOld = sql`known.used_on < current_date - 30`;
  return sql`
  contact as (
    insert into messaging.contact as known (number, phone) select number, phone from sent where number is not null
    on conflict (number, phone) do update set used_on = current_date where ${isOld}
  ), given as (
    -- what waits for the same recipient in the queue of the pool, where an account without room for new contacts rarely looks
    update messaging.message m set account = sent.account
    from sent cross join lateral (
      select seq from messaging.message waiting
      where is_open and phone = sent.phone and waiting.pool = sent.pool and waiting.account is null and state = 'PENDING'
      -- by number, also when statistics say that nothing is open
      order by priority, seq offset 0) of_number
    where m.seq = of_number.seq and messaging.takes_from_pool(sent.account)
  )
  insert into messaging.route as known (pool, phone, account)
  select pool, phone, account from sent where messaging.takes_from_pool(account)
  on conflict (pool, phone) do update set account = excluded.account, used_on = current_date,
    since = case when known.account = excluded.account then known.since else now() end
  where known.account <> excluded.account or ${isOld}`;
};
