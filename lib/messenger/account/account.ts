import { setTimeout } from "node:timers/promises";
import type postgres from "postgres";
import { log } from "#lib/log.ts";

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

/** Records that an account is linked to a number, with which it has connected: from then on it may be given messages. */
export const recordNumber = async (sql: postgres.ISql, account: number, number: string): Promise<void> => {
  await sql`
    update messaging.account set number = ${number}, linked_at = now()
    where id = ${account} and number is distinct from ${number}`;
};

/** Lists those that cannot send, but for spares: usually none. */
const listUnable = (sql: postgres.ISql) => sql<{ id: number }[]>`
  select id from messaging.account where state <> 'spare' and not messaging.can_send(id)`;

/**
 * Takes back the messages of accounts that cannot send, for the others of their pools, and makes a spare active in a pool in
 * which no account can send. A message that may have left stays: only with the same account can it be sent again.
 *
 * @returns how many messages were taken back.
 */
export const releaseMessages = async (sql: postgres.Sql): Promise<number> => {
  const unable = (await listUnable(sql)).map(({ id }) => id).join();
  if (unable === "") return 0;
  const { count } = await sql`
    with unable as materialized (
      select id, pool from messaging.account where id = any(string_to_array(${unable}, ',')::smallint[])
    ), activated as (
      update messaging.account set state = 'active' where id in (
        select distinct on (spare.pool) spare.id from messaging.account spare join unable using (pool)
        where spare.state = 'spare' and spare.number is not null and (spare.hold_code is null or spare.hold_until <= now())
          and not exists (
            select from messaging.account other where other.pool = spare.pool and messaging.can_send(other.id))
        order by spare.pool, spare.id)
    )
    update messaging.message m set account = null from unable
    where m.is_open and m.account = unable.id and m.state = 'PENDING' and m.attempts <= m.unsent`;
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
