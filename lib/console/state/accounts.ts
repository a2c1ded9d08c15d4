import type postgres from "postgres";
import { maskPhone } from "#lib/messaging/phone.ts";
import { type AccountSummary, summarizeAccounts } from "#lib/messenger/account/account-admin.ts";

/** Lists the accounts that connect, as they stand in the database: any task may lead them. Their numbers are masked. */
export const listAccountRows = async (sql: postgres.ISql): Promise<AccountSummary[]> => {
  const accounts = await summarizeAccounts(sql, sql`state <> 'retired'`);
  return accounts.map((one) => ({ ...one, number: one.number && maskPhone(one.number) }));
};
