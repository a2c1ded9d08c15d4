import type postgres from "postgres";

/**
 * Ends a statement whose rows `sent` (pool, phone, number, account) were sent: the number has these contacts, and recipients
 * know the account from now on.
 */
export const rememberRecipients = (sql: postgres.ISql) => {
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
