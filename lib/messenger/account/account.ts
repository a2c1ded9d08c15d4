import { setTimeout } from "node:timers/promises";
import type postgres from "postgres";
import { log } from "#lib/log.ts";
import type { ChannelName } from "#lib/messaging/channel.ts";
import { waits } from "../outbox/lifecycle.ts";
import { walkSenders } from "../outbox/list.ts";
import { moveLate } from "../outbox/next-channel.ts";

/** One that sends: linked to a number at a time, with keys, a leader and a pace of its own. */
export interface Account {
  readonly id: number;
  readonly name: string;
  readonly channel: ChannelName;
}

/** The account of a new stage, `main`. */
export const firstAccount = 1;

/** Lists the accounts that connect, the oldest first. */
export const listAccounts = (sql: postgres.ISql) => sql<Account[]>`
  select id, name, channel from messaging.account where state <> 'retired' order by id`;

/**
 * Records that an account is linked to a number, with which it has connected: from then on it may be given messages.
 *
 * @returns false if another account is linked to the number: each would send at the whole rate. Then this one has none.
 */
export const recordNumber = async (sql: postgres.ISql, account: number, number: string): Promise<boolean> => {
  const [row] = await sql<{ isOwn: boolean }[]>`
    with other as materialized (
      select from messaging.account where number = ${number} and id <> ${account} and state <> 'retired'
    ), stored as (
      update messaging.account set linked_at = now(), number = case when not exists (select from other) then ${number} end
      where id = ${account} and number is distinct from ${number}
    )
    select not exists (select from other) as "isOwn"`;
  return row?.isOwn === true;
};

/** Records since when an account has not been connected. Attempts to connect change nothing. */
export const recordConnection = async (
  sql: postgres.ISql,
  account: number,
  isOpen: boolean,
): Promise<void> => {
  await sql`
    update messaging.account set down_since = case when not ${isOpen} then now() end
    where id = ${account} and (down_since is null) <> ${isOpen}`;
};

/** Finds accounts that cannot send even what was given to them, and those that cannot write to new contacts: usually none. */
const findUnable = async (
  sql: postgres.ISql,
): Promise<{ readonly unable: string; readonly limited: string }> => {
  const [row] = await sql<{ unable: string | null; limited: string | null }[]>`
    select string_agg(a.id::text, ',') filter (where not messaging.is_ready(a)) as unable,
      string_agg(a.id::text, ',') filter (where greatest(n.locked_until, n.paused_until) > now()
        or (n.cap_used >= n.cap_total and n.cap_ends_at > now())) as limited
    from messaging.account a left join messaging.number n on n.phone = a.number`;
  return { unable: row?.unable ?? "", limited: row?.limited ?? "" };
};

/** Makes the oldest spare that is ready active in each pool in which no account of its channel can send. */
const activateSpares = async (sql: postgres.Sql): Promise<void> => {
  const spares = await sql<{ id: number }[]>`
    select distinct on (pool, channel) id from messaging.account spare
    where state = 'spare' and messaging.is_ready(spare) and not exists (
      select from messaging.account other
      where other.pool = spare.pool and other.channel = spare.channel and messaging.can_send(other.id))
    order by pool, channel, id`;
  // an idle task writes nothing
  for (const { id } of spares)
    await sql`update messaging.account set state = 'active' where id = ${id} and state = 'spare'`;
};

/**
 * Takes back the messages of accounts that cannot send, and of limited ones those to new contacts, for the others of their
 * pools; activates spares. A message that may have left stays: only with the same account can it be sent again. One that is
 * held is taken back when its time has come.
 *
 * @returns how many messages were taken back.
 */
export const releaseMessages = async (sql: postgres.Sql): Promise<number> => {
  await activateSpares(sql);
  const { unable, limited } = await findUnable(sql);
  if (unable === "" && limited === "") return 0;
  const queues = [unable, limited].flatMap((ids) => (ids ? ids.split(",") : [])).map((id) => `account ${id}`);
  const { count } = await sql`
    with recursive senders (sender) as (${walkSenders(sql, sql`is_open and held_until is null`)}), unable as materialized (
      select id, messaging.is_ready(own) as is_limited, not exists (
          select from messaging.account first
          where first.pool = own.pool and first.state <> 'retired' and first.channel < own.channel) as is_first, (
        select min(other.id) from messaging.account other
        where other.pool = own.pool and other.channel = own.channel and messaging.can_send(other.id)) as other
      from messaging.account own
      where id = any(string_to_array(${`${unable},${limited}`}, ',', '')::smallint[])
    )
    update messaging.message m set account = case when not is_first then other end
    from unable
    where m.account = unable.id and seq = any(array(
      select seq from messaging.message m join unable on unable.id = m.account
      -- by sender and queue, for which there is an index: retired accounts stay in the list for ever
      where is_open and held_until is null and sender in (select sender from senders) and queue = any(string_to_array(${queues.join()}, ','))
        and ${waits(sql)} and (is_first or other <> m.account)
        and (not is_limited or not exists (
          select from messaging.contact c join messaging.account a on a.number = c.number
          where a.id = m.account and c.phone = m.phone))
      order by seq + 0 for update of m))`;
  return count;
};

const everyMs = 1_000;

/**
 * Takes back what accounts cannot send, and gives to the next channel what is late, until the signal is aborted.
 *
 * @param notify wakes the senders.
 */
export const runRelease = async (
  sql: postgres.Sql,
  notify: () => void,
  signal: AbortSignal,
): Promise<void> => {
  const work = async () => {
    const released = await releaseMessages(sql);
    const moved = await moveLate(sql);
    if (released > 0) log.warn("other accounts send what an account cannot", { messages: released });
    if (moved > 0) log.warn("messages go on to the next channel", { messages: moved });
    if (released + moved > 0) notify();
  };
  while (!signal.aborted) {
    await work().catch((error: unknown) => {
      log.warn("messages of accounts that cannot send are not taken back", { error });
    });
    await setTimeout(everyMs, undefined, { signal }).catch(() => {});
  }
};
