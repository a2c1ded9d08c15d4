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

-- The most failures within a time: of an account from one network, so that a stranger's do not lock the owner out; of an account from
-- all networks together, against guesses from many; of a source for all accounts together.
create or replace function employee.attempt_limits() returns table (scope text, span interval, failures integer)
language sql immutable
begin atomic
  values
    ('account from network', interval '15 minutes', 5),
    ('account', interval '1 hour', 30),
    ('source', interval '1 minute', 10);
end;

-- Reserves an attempt before the legacy system is called, so that concurrent callers share the limits. If there is no
-- id, a limit is reached: retry after `retry_after_seconds`, or soon if that is null, when pending attempts end.
create or replace function employee.reserve_attempt(
  account bytea, network bytea, source bytea, out attempt_id bigint, out retry_after_seconds integer)
language plpgsql volatile security definer
set search_path = employee, pg_temp as $$
declare
  most record;
  tallied employee.tally;
  since timestamptz;
  refused boolean := false;
  -- exempt from the limit for all networks
  is_known_network constant boolean := exists (
    select from employee.known_network k
    where k.account_digest = account and k.network_digest = network and k.seen_at > now() - interval '30 days');
begin
  -- always in this order, so that callers do not deadlock; without account or source, nothing is locked
  perform pg_advisory_xact_lock(7206302 /* accountAttempts */, hashtext(encode(account, 'hex')));
  perform pg_advisory_xact_lock(7206303 /* sourceAttempts */, hashtext(encode(source, 'hex')));

  for most in select * from employee.attempt_limits() loop
    continue when most.scope = 'account' and is_known_network;
    since := clock_timestamp() - most.span;
    tallied := case most.scope
      when 'account from network' then employee.tally(account, network, null, since)
      when 'account' then employee.tally(account, null, null, since)
      when 'source' then employee.tally(null, null, source, since)
    end;
    if tallied.failed >= most.failures then
      retry_after_seconds := greatest(retry_after_seconds, 1,
        ceil(extract(epoch from tallied.oldest + most.span - clock_timestamp())));
    end if;
    refused := refused or tallied.failed + tallied.awaited >= most.failures;
  end loop;
  if refused then
    return;
  end if;
  insert into employee.attempt (account_digest, network_digest, source_digest) values (account, network, source)
  returning id into attempt_id;
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

grant execute on function employee.unlock_account to municipal_employee_admin;
grant execute on function employee.reserve_attempt, employee.fail_attempt, employee.release_attempt,
  employee.pass_attempt to municipal_employee, municipal_employee_ticket;
