import type postgres from "postgres";

/**
 * Ends a statement whose rows `sent` (pool, phone, number, account) were sent: the number has these contacts, and recipients
 * know the account from now on.
 */
export const rememberRecipients = (sql: postgres.ISql) => sql`
  contact as (
    insert into messaging.contact (number, phone) select number, phone from sent where number is not null
    on conflict do nothing
  )
  insert into messaging.route as known (pool, phone, account)
  select pool, phone, account from sent where messaging.takes_from_pool(account)
  on conflict (pool, phone) do update set account = excluded.account, since = now()
  where known.account <> excluded.account`;
