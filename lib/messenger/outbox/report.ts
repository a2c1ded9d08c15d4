import type postgres from "postgres";
import type { Report } from "#lib/messaging/channel-events.ts";
import { fail } from "./next-channel.ts";
import { applyReceipt } from "./state.ts";

/** Finds the message that a platform reports about. @returns undefined for one that is not the account's. */
const findReported = async (
  sql: postgres.Sql,
  account: number,
  { id, reference }: Report,
): Promise<string | undefined> => {
  const [row] = await sql<{ id: string }[]>`
    select m.id from messaging.payload p join messaging.message m using (seq)
      join messaging.account a on a.id = ${account} and a.channel = p.channel
      -- gateways may number their messages alike
      and not exists (
        select from messaging.account own where own.id = m.account and own.id <> a.id and own.channel = a.channel)
    where ${id === undefined ? sql`p.reference = ${reference ?? null}` : sql`m.id = ${id}`} limit 1`;
  return row?.id;
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
  const id = await findReported(sql, account, report);
  if (id === undefined) return false;
  const { state, code = "unknown" } = report;
  if (state !== "FAILED") await applyReceipt(sql, account, id, state);
  else
    await fail(
      sql,
      sql`id = ${id} and account = ${account} and state in ('SENDING', 'SENT', 'UNCERTAIN')`,
      describe(code),
    );
  return true;
};
