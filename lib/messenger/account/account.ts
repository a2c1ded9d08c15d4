import { setTimeout } from "node:timers/promises";
import type postgres from "postgres";
import { log } from "#lib/log.ts";
import { waits } from "../outbox/cancel.ts";
import { walkSenders } from "../outbox/senders.ts";

/** One that sends: linked to a number at a time, with keys, a leader and a pace of its own. */
export interface Account {
  readonly id: number;
  readonly name: string;
}

/** The account of a new stage, `main`. */
export const firstAccount = 1;

/** Lists the accounts that connect, the oldest first. */
export const listAccounts = (sql: postgres.ISql) => sql<Account[]>`
  select id, name from messaging.account where state <> 'retired' order by id`;

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

/** Makes the oldest spare that is ready active in each pool in which no account can send. */
const activateSpares = (sql: postgres.Sql) => sql`
  update messaging.account set state = 'active' where id in (
    select distinct on (pool) id from messaging.account spare
    where state = 'spare' and messaging.is_ready(spare) and not exists (
      select from messaging.account other where other.pool = spare.pool and messaging.can_send(other.id))
    order by pool, id)`;

/**
 * Takes back the messages of accounts that cannot send, and of limited ones those to new contacts, for the others of their
 * pools; activates spares. A message that may have left stays: only with the same account can it be sent again.
 *
 * @returns how many messages were taken back.
 */
export const releaseMessages = async (sql: postgres.Sql): Promise<number> => {
  await activateSpares(sql);
  const { unable, limited } = await findUnable(sql);
  if (unable === "" && limited === "") return 0;
  const queues = [unable, limited].flatMap((ids) => (ids ? ids.split(",") : [])).map((id) => `account ${id}`);
  const { count } = await sql`
    with recursive senders (sender) as (${walkSenders(sql, sql`is_open`)})
    update messaging.message m set account = null
    -- by sender and queue, for which there is an index: retired accounts stay in the list for ever
    where is_open and sender in (select sender from senders) and queue = any(string_to_array(${queues.join()}, ','))
      and ${waits(sql)}
      and (m.account = any(string_to_array(${unable}, ',')::smallint[])
        or (m.account = any(string_to_array(${limited}, ',')::smallint[]) and not exists (
          select from messaging.contact c join messaging.account a on a.number = c.number
          where a.id = m.account and c.phone = m.phone)))`;
  return count;
};

const releaseEveryMs = 2_000;

/** Takes back what accounts cannot send, until the signal is aborted. @param notify wakes the senders. */
export const runRelease = async (
  sql: postgres.Sql,
  notify: () => void,
  signal: AbortSignal,
): Promise<void> => {
  while (!signal.aborted) {
    const messages = await releaseMessages(sql).catch((error: unknown) => {
      log.warn("messages of accounts that cannot send are not taken back", { error });
      return 0;
    });
    if (messages > 0) {
      log.warn("other accounts send what an account cannot", { messages });
      notify();
    }
    await setTimeout(releaseEveryMs, undefined, { signal }).catch(() => {});
  }
};
