import type postgres from "postgres";
import { channelPolicies } from "#lib/messaging/channel.ts";
import { begunAnew, byExpiry, channelOf, goesOnUnsent, waits } from "./lifecycle.ts";

const { unconfirmedSeconds } = channelPolicies["one-time-code"];

interface Stuck {
  /** Pools of which an account can send at a later channel. */
  readonly open: string;
  /** Pools of which no account can send at the first channel. */
  readonly pools: string;
  /** Accounts that cannot send, nor can another of their pool at their channel. */
  readonly accounts: string;
}

/** @returns undefined if no account can send at a later channel: then nothing can go on. */
const findStuck = async (sql: postgres.Sql): Promise<Stuck | undefined> => {
  const several = await sql`
    select from messaging.account where state <> 'retired' group by pool having count(distinct channel) > 1 limit 1`;
  if (several.count === 0) return undefined;
  const [row] = await sql<{ open: string | null; pools: string | null; accounts: string | null }[]>`
    with line as (
      select pool, channel, array_agg(id) as ids, bool_or(messaging.can_send(id)) as able, 
        -- what was given to one that was retired since goes on too
        channel = min(case when bool_or(state <> 'retired') then channel end) over (partition by pool) as is_first
      from messaging.account group by pool, channel
    )
    select string_agg(distinct pool, ',') filter (where able and channel > 'whatsapp') as open,
      string_agg(distinct pool, ',') filter (where is_first and not able) as pools,
      (select string_agg(id::text, ',') from line l, unnest(l.ids) id where not l.able) as accounts
    from line`;
  return row?.open ? { open: row.open, pools: row.pools ?? "", accounts: row.accounts ?? "" } : undefined;
};

/** A message goes on at the latest when it expires in so long. */
const longestNotice = "1 hour";

/** One-time codes whose delivery is not confirmed. */
const isUnconfirmed = (sql: postgres.Sql) => sql`(
  priority = 0 and due_at <= now() - ${unconfirmedSeconds} * interval '1 second'
  and expires_at > now() and state in ('PENDING', 'SENDING', 'SENT', 'UNCERTAIN'))`;

/** Messages of which nothing has left, that expire soon or have no account that can send. */
const isUnsent = (sql: postgres.Sql, { pools, accounts }: Stuck) => sql`(
  is_open and ${waits(sql)} and due_at <= now() and expires_at > now()
  and priority = any(string_to_array(${goesOnUnsent}, ',')::smallint[])
  and (expires_at - least(${longestNotice}::text::interval, (expires_at - due_at) / 10) <= now()
    or (account is null and pool = any(string_to_array(${pools}, ',')))
    or account = any(string_to_array(${accounts}, ',')::smallint[])))`;

/**
 * Gives messages that their channel does not deliver in time to an account of the next: one-time codes whose delivery is not
 * confirmed, and what has not left and expires soon or has no account that can send.
 *
 * @returns how many.
 */
export const moveLate = async (sql: postgres.Sql): Promise<number> => {
  const stuck = await findStuck(sql);
  if (!stuck) return 0;
  const isLate = sql`(${isUnconfirmed(sql)} or ${isUnsent(sql, stuck)})
    and pool = any(string_to_array(${stuck.open}, ',')) and messaging.next_account(pool, account) is not null`;
  const ofOpen = (which: postgres.Fragment) =>
    sql`(select seq::text as seq from messaging.message where is_open and ${which} and ${isLate} limit 1000)`;
  const isStuck = stuck.pools !== "" || stuck.accounts !== "";
  const late = await sql<{ seq: string }[]>`
    ${
      // else by the indexes of codes and of expiries: looked for each second, while many wait
      isStuck
        ? ofOpen(sql`true`)
        : sql`
          (${ofOpen(sql`priority = 0 and due_at <= now()`)} union ${ofOpen(sql`${byExpiry(sql)} and expires_at <= now() + ${longestNotice}::text::interval`)})`
    }
    union all
    select seq::text from messaging.message where not is_open and content ? 'sealed' and ${isLate}`;
  if (late.length === 0) return 0;
  const { count } = await sql`
    with late as materialized (
      select seq, messaging.next_account(pool, account) as next, ${channelOf(sql)} as channel,
        not (${waits(sql)}) as may_have_left
      from messaging.message
      where seq = any(string_to_array(${late.map(({ seq }) => seq).join()}, ',')::bigint[]) and ${isLate}
      order by seq + 0 for update
    ), marked as (
      update messaging.payload p set may_have_left = true from late
      where p.seq = late.seq and p.channel = late.channel and late.may_have_left
    )
    update messaging.message m set ${begunAnew(sql)} from late where m.seq = late.seq and next is not null`;
  return count;
};

/** Drops the texts of one-time codes that no channel can send any more. @returns how many. */
export const dropCodes = async (sql: postgres.Sql, limit: number): Promise<number> => {
  const { count } = await sql`
    update messaging.message set content = content - 'sealed' where seq in (
      select seq from messaging.message
      where not is_open and content ? 'sealed' and expires_at <= now() limit ${limit})`;
  return count;
};
