import type postgres from "postgres";
import { advisoryLocks } from "#lib/db/advisory-locks.ts";
import type { ChannelName } from "#lib/messaging/channel.ts";
import { cityPool } from "#lib/messaging/submission.ts";

export interface AccountTerms {
  /** Of a new account; WhatsApp by default. */
  readonly channel?: ChannelName | undefined;
  readonly department?: string | undefined;
  readonly pool?: string | undefined;
  /** A spare becomes active when no other account of its pool can send; a retired one disconnects. */
  readonly state?: "active" | "spare" | "retired" | undefined;
}

export interface AccountSummary {
  name: string;
  channel: ChannelName;
  pool: string;
  department: string | null;
  state: "active" | "spare" | "retired";
  /** That is linked, once it has connected. */
  number: string | null;
  linkedAt: Date | null;
  /** The platform's code with which it holds logins. */
  holdCode: number | null;
  /** When it was last connected; null while it is. */
  downSince: Date | null;
  /** Messages that wait for this account. */
  waiting: number;
  /** Until when its number may not write to new contacts; in the past, or null, if it may. */
  limitedUntil: Date | null;
  /** Whether a task leads it now. */
  isLed: boolean;
}

/** Lists accounts by pool and name. @param condition on `messaging.account`. */
export const summarizeAccounts = (sql: postgres.ISql, condition: postgres.Fragment) => sql<AccountSummary[]>`
  select name, channel, pool, department, state, number, linked_at as "linkedAt",
    case when hold_until is null or hold_until > now() then hold_code end as "holdCode",
    down_since as "downSince", coalesce(count, 0) as waiting,
    (select greatest(locked_until, paused_until) from messaging.number n where n.phone = number) as "limitedUntil", exists (
      select from pg_locks
      where locktype = 'advisory' and classid = ${advisoryLocks.accountLeader} and objid = id::oid and objsubid = 2 and granted
        and database = (select oid from pg_database where datname = current_database())) as "isLed"
  from messaging.account left join messaging.count_waiting() counted on counted.account = id
  where ${condition} order by pool, name`;

/**
 * Manages the accounts that send, for the operator.
 * @param sql connection of the role `municipal_sender_admin`.
 */
export const accountDirectory = (sql: postgres.Sql) => ({
  list: (): Promise<AccountSummary[]> => summarizeAccounts(sql, sql`true`),

  /** @returns false if the name is in use. */
  async add(
    name: string,
    { channel = "whatsapp", department, pool = cityPool, state = "active" }: AccountTerms,
  ): Promise<boolean> {
    const { count } = await sql`
      insert into messaging.account (name, channel, department, pool, state)
      values (${name}, ${channel}, ${department ?? null}, ${pool}, ${state})
      on conflict (name) do nothing`;
    return count > 0;
  },

  /**
   * @returns what was done: nothing to an `unknown` account, to one that is `retired`, and to the `last` of a pool with senders,
   * which would leave it.
   */
  async change(
    name: string,
    { department, pool, state }: AccountTerms,
  ): Promise<"changed" | "unknown" | "retired" | "last"> {
    const [row] = await sql<{ isRetired: boolean; isLast: boolean }[]>`
      select state = 'retired' and ${state ?? "retired"} <> 'retired' as "isRetired",
        state <> 'retired' and (${state ?? ""} = 'retired' or ${pool ?? null} <> pool) is true
          and (pool = ${cityPool} or exists (select from messaging.sender s where s.pool = a.pool))
          and not exists (select from messaging.account other
            where other.pool = a.pool and other.id <> a.id and other.state <> 'retired') as "isLast"
      from messaging.account a where name = ${name}`;
    if (!row) return "unknown";
    if (row.isRetired) return "retired";
    if (row.isLast) return "last";
    await sql`
      update messaging.account set department = coalesce(${department ?? null}, department),
        pool = coalesce(${pool ?? null}, pool), state = coalesce(${state ?? null}, state)
      where name = ${name}`;
    return "changed";
  },
});
