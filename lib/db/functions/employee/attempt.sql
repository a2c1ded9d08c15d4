-- Counts the attempts of a source, or those for an account: from one network, or from all if it is null.
--
-- An attempt that is pending for 15 s has lost its function or the database. It counts as failed for the rest of a
-- minute and then expires, so that an outage on our side locks nobody out.
create or replace function employee.tally(account bytea, network bytea, source bytea, since timestamptz) returns employee.tally
language sql volatile
return (
  select row(count(*) filter (where not waits), count(*) filter (where waits), min(made_at))::employee.tally
  from (
    select made_at, failed_at is null and made_at > clock_timestamp() - interval '15 seconds' as waits
    from employee.attempt
    where (account_digest = account and (network is null or network_digest = network) or source_digest = source)
      and made_at > since
      and (failed_at is not null or made_at > clock_timestamp() - interval '1 minute')
  ) attempts
);

-- Reserves an attempt before the legacy system is called, so that concurrent callers share the limits. If there is no
-- id, a limit is reached: retry after `retry_after_seconds`, or soon if that is null, when pending attempts end.
create or replace function employee.reserve_attempt(
  account bytea, network bytea, source bytea, out attempt_id bigint, out retry_after_seconds integer)
language plpgsql volatile security definer
set search_path = employee, pg_temp as $$
declare
  budget record;
  tallied employee.tally;
  refused boolean := false;
begin
  -- always in this order, so that callers do not deadlock; without account or source, nothing is locked
  perform pg_advisory_xact_lock(7206302 /* accountAttempts */, hashtext(encode(account, 'hex')));
  perform pg_advisory_xact_lock(7206303 /* sourceAttempts */, hashtext(encode(source, 'hex')));

  for budget in
    select * from (values
      -- an account from one network: a stranger's failures do not lock the owner out
      (account, network, null::bytea, interval '15 minutes', 5),
      -- an account from all networks together, against guesses from many; its known networks are exempt
      (case when not exists (
        select from employee.known_network k
        where k.account_digest = account and k.network_digest = network and k.seen_at > now() - interval '30 days')
        then account end, null, null, interval '1 hour', 30),
      -- a source, for all accounts together
      (null, null, source, interval '1 minute', 10)
    ) list (account, network, source, span, most)
  loop
    tallied := employee.tally(budget.account, budget.network, budget.source, clock_timestamp() - budget.span);
    if tallied.failed >= budget.most then
      retry_after_seconds := greatest(retry_after_seconds, 1,
        ceil(extract(epoch from tallied.oldest + budget.span - clock_timestamp())));
    end if;
    refused := refused or tallied.failed + tallied.awaited >= budget.most;
  end loop;
  if refused then
    return;
  end if;
  insert into employee.attempt (account_digest, network_digest, source_digest) values (account, network, source)
  returning id into attempt_id;
  -- deletes old rows with each new one, to bound the table; now() can use the index
  delete from employee.attempt where id in (
    select id from employee.attempt where made_at < now() - interval '1 day'
    order by made_at limit 5 for update skip locked);
end
$$;

create or replace function employee.fail_attempt(attempt_id bigint) returns void
language sql volatile security definer
set search_path = employee, pg_temp
begin atomic
  update employee.attempt set failed_at = clock_timestamp() where id = attempt_id;
end;

-- Without an answer from the legacy system, the attempt does not count.
create or replace function employee.release_attempt(attempt_id bigint) returns void
language sql volatile security definer
set search_path = employee, pg_temp
begin atomic
  delete from employee.attempt where id = attempt_id;
end;

-- Remembers the network, and deletes the account's failures from it (NIST SP 800-63B, 5.2.2). If those from other
-- networks were deleted too, each login of the owner would give an attacker new attempts.
create or replace function employee.pass_attempt(attempt_id bigint) returns void
language sql volatile security definer
set search_path = employee, pg_temp
begin atomic
  insert into employee.known_network (account_digest, network_digest)
  select account_digest, network_digest from employee.attempt
  where id = attempt_id and account_digest is not null and network_digest is not null
  on conflict (account_digest, network_digest) do update set seen_at = excluded.seen_at;
  delete from employee.attempt gone using employee.attempt own
  where own.id = attempt_id and (gone.id = own.id or (
    gone.failed_at is not null and gone.account_digest = own.account_digest
    and gone.network_digest is not distinct from own.network_digest));
end;

-- Deletes an account's failures from all networks, for the operator.
create or replace function employee.unlock_account(account bytea) returns bigint
language sql volatile security definer
set search_path = employee, pg_temp
begin atomic
  with gone as (
    delete from employee.attempt where account_digest = account and failed_at is not null returning 1
  )
  select count(*) from gone;
end;

-- Deletes the old attempts that new ones have not deleted, old tickets, and networks that an account has left.
create or replace function employee.expire_attempts(most integer) returns integer
language sql volatile security definer
set search_path = employee, pg_temp
begin atomic
  with attempts as (
    delete from employee.attempt where id in (
      select id from employee.attempt where made_at < now() - interval '1 day'
      order by made_at limit most for update skip locked)
    returning 1
  ), tickets as (
    delete from employee.ticket where (digest, account_id) in (
      select digest, account_id from employee.ticket where issued_at < now() - interval '1 day' limit most)
    returning 1
  ), networks as (
    delete from employee.known_network where (account_digest, network_digest) in (
      select account_digest, network_digest from employee.known_network
      where seen_at < now() - interval '30 days' limit most)
    returning 1
  )
  select greatest((select count(*) from attempts), (select count(*) from tickets), (select count(*) from networks))::integer;
end;

grant execute on function employee.unlock_account to municipal_employee_admin;
grant execute on function employee.reserve_attempt, employee.fail_attempt, employee.release_attempt,
  employee.pass_attempt to municipal_employee, municipal_employee_ticket;
grant execute on function employee.expire_attempts to municipal_maintenance;
