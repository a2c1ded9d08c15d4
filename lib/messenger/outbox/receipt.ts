import type postgres from "postgres";
import type { Report } from "#lib/messaging/channel-events.ts";
import { fail } from "./lifecycle.ts";
import { type Outgoing, reasons } from "./message.ts";

/**
 * Marks a message that the platform has accepted. A receipt may have arrived before, or it may have gone on to another channel,
 * which sends it all the same.
 *
 * @param reference the platform's own id of it.
 */
export const markSent = async (
  sql: postgres.Sql,
  { id, phone, account, number }: Outgoing,
  reference?: string,
): Promise<void> => {
  if (reference !== undefined)
    await sql`
      update messaging.payload p set reference = ${reference}
      from messaging.message m join messaging.account a on a.id = ${account}
      where m.id = ${id} and p.seq = m.seq and p.channel = a.channel`;
  const isOwn = sql`state = 'SENDING' and account = ${account}`;
  await sql`
    with sent as (
      update messaging.message
      set state = case when ${isOwn} then 'SENT' else state end, sent_at = now(),
        changed_at = case when ${isOwn} then now() else changed_at end
      where id = ${id}
      returning pool, ${phone} as phone, ${number} as number, ${account}::smallint as account
    ), ${rememberRecipients(sql)}`;
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
const rememberRecipients = (sql: postgres.ISql) => {
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

/** Finds the message that a platform reports about. @returns undefined for one that is not the account's. */
export const findReported = async (
  sql: postgres.Sql,
  account: number,
  { id, reference }: Pick<Report, "id" | "reference">,
): Promise<{ id: string; phone: string } | undefined> => {
  const [row] = await sql<{ id: string; phone: string }[]>`
    select m.id, m.phone from messaging.payload p join messaging.message m using (seq)
      join messaging.account a on a.id = ${account} and a.channel = p.channel
      -- gateways may number their messages alike
      and not exists (
        select from messaging.account own where own.id = m.account and own.id <> a.id and own.channel = a.channel)
    where ${id === undefined ? sql`p.reference = ${reference ?? null}` : sql`m.id = ${id}`} limit 1`;
  return row;
};

/** Stores with which id the platform names a recipient, for a reply that comes without the number. */
const storeUserId = async (
  sql: postgres.Sql,
  account: number,
  phone: string,
  user: string | undefined,
): Promise<void> => {
  if (user === undefined) return;
  await sql`
    insert into messaging.number_check as known (account, phone, address) values (${account}, ${phone}, ${user})
    on conflict (account, phone) do update set address = excluded.address, checked_at = now()
      where known.address is distinct from excluded.address or known.checked_at < now() - interval '1 day'`;
};

/**
 * Applies what a platform reports of a message of an account. Reports may arrive late, twice and in any order, also before
 * the answer to the request that sent the message.
 *
 * @param describe says why it has failed, by the code of the channel.
 * @returns whether it concerns a message of the account.
 */
export const applyReport = async (
  sql: postgres.Sql,
  account: number,
  report: Report,
  describe: (code: string) => string,
): Promise<boolean> => {
  const reported = await findReported(sql, account, report);
  if (!reported) return false;
  const { id, phone } = reported;
  const { state, code = "unknown", user } = report;
  await storeUserId(sql, account, phone, user);
  if (state !== "FAILED") await applyReceipt(sql, account, id, state);
  else
    await fail(
      sql,
      sql`id = ${id} and account = ${account} and state in ('SENDING', 'SENT', 'UNCERTAIN')`,
      describe(code),
    );
  return true;
};
