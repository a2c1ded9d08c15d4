import type postgres from "postgres";
import type { Report } from "#lib/messaging/channel-events.ts";
import { fail } from "./next-channel.ts";
import { applyReceipt } from "./state.ts";

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
