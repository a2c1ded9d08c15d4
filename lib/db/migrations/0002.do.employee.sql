-- Sessions of employees who log in with an account of the legacy system, and the rate limit of logins.
set role municipal_owner;

-- Attempts to prove an identity to a legacy system. The address is a network, or the account that requests an
-- employee's ticket. Both are digests with a pepper from outside the database: a typed username may be a password.
create table employee.attempt (
  id bigint generated always as identity primary key,
  account_digest bytea not null,
  address_digest bytea,
  made_at timestamptz not null default clock_timestamp(),
  -- null while pending
  failed_at timestamptz
);
create index attempt_by_account on employee.attempt (account_digest, made_at);
create index attempt_by_address on employee.attempt (address_digest, made_at);
create index attempt_by_age on employee.attempt (made_at);

-- The attempts in a window: failed, pending, and the time of the oldest.
create type employee.tally as (failed bigint, awaited bigint, oldest timestamptz);

-- An attempt that is pending for 15 s has lost its function or the database. It counts as failed for the rest of a
-- minute and then expires, so that an outage on our side locks nobody out.
create function employee.tally(account bytea, address bytea, since timestamptz) returns employee.tally
language sql volatile
return (
  select row(count(*) filter (where not waits), count(*) filter (where waits), min(made_at))::employee.tally
  from (
    select made_at, failed_at is null and made_at > clock_timestamp() - interval '15 seconds' as waits
    from employee.attempt
    where (account_digest = account or address_digest = address) and made_at > since
      and (failed_at is not null or made_at > clock_timestamp() - interval '1 minute')
  ) attempts
);

-- Reserves an attempt before the legacy system is called, so that concurrent callers share the limit. If there is no
-- id, the limit is reached: retry after `retry_after_seconds`, or soon if that is null, when pending attempts end.
create function employee.reserve_attempt(
  account bytea, address bytea, out attempt_id bigint, out retry_after_seconds integer)
language plpgsql volatile security definer
set search_path = employee, pg_temp as $$
declare
  tallied employee.tally;
  refused boolean := false;
begin
  -- always in this order, so that callers do not deadlock
  perform pg_advisory_xact_lock(7206302, hashtext(encode(account, 'hex')));
  if address is not null then
    perform pg_advisory_xact_lock(7206303, hashtext(encode(address, 'hex')));
  end if;

  tallied := employee.tally(account, null, clock_timestamp() - interval '15 minutes');
  if tallied.failed >= 5 then
    retry_after_seconds := ceil(extract(epoch from tallied.oldest + interval '15 minutes' - clock_timestamp()));
  end if;
  refused := tallied.failed + tallied.awaited >= 5;

  if address is not null then
    tallied := employee.tally(null, address, clock_timestamp() - interval '1 minute');
    if tallied.failed >= 10 then
      retry_after_seconds := greatest(retry_after_seconds,
        ceil(extract(epoch from tallied.oldest + interval '1 minute' - clock_timestamp())));
    end if;
    refused := refused or tallied.failed + tallied.awaited >= 10;
  end if;

  if refused then
    retry_after_seconds := greatest(retry_after_seconds, case when retry_after_seconds is not null then 1 end);
    return;
  end if;
  insert into employee.attempt (account_digest, address_digest) values (account, address)
  returning id into attempt_id;
  -- deletes old rows with each new one, to bound the table; now() can use the index
  delete from employee.attempt where id in (
    select id from employee.attempt where made_at < now() - interval '1 day'
    order by made_at limit 5 for update skip locked);
end
$$;

create function employee.fail_attempt(attempt_id bigint) returns void
language sql volatile security definer
set search_path = employee, pg_temp
begin atomic
  update employee.attempt set failed_at = clock_timestamp() where id = attempt_id;
end;

-- Without an answer from the legacy system, the attempt does not count.
create function employee.release_attempt(attempt_id bigint) returns void
language sql volatile security definer
set search_path = employee, pg_temp
begin atomic
  delete from employee.attempt where id = attempt_id;
end;

-- Deletes the account's failures from the same address only (NIST SP 800-63B, 5.2.2): otherwise each login of the owner
-- would give an attacker new attempts.
create function employee.pass_attempt(attempt_id bigint) returns void
language sql volatile security definer
set search_path = employee, pg_temp
begin atomic
  delete from employee.attempt gone using employee.attempt own
  where own.id = attempt_id and (gone.id = own.id or (
    gone.failed_at is not null and gone.account_digest = own.account_digest
    and gone.address_digest is not distinct from own.address_digest));
end;

-- A login and its refreshes: a family of refresh tokens.
create table employee.session (
  id uuid primary key default gen_random_uuid(),
  account_id text not null,
  scope text not null,
  started_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '30 days',
  ended_at timestamptz,
  end_reason text check (end_reason in ('reuse', 'operator'))
);
create index session_by_account on employee.session (account_id);
create index session_by_expiry on employee.session (expires_at);

create table employee.refresh_token (
  digest bytea primary key check (octet_length(digest) = 32),
  session_id uuid not null references employee.session on delete cascade,
  issued_at timestamptz not null default now(),
  spent_at timestamptz,
  -- the next token, encrypted with a key derived from this one, which is not stored
  sealed_successor bytea,
  check ((spent_at is null) = (sealed_successor is null))
);
create index refresh_token_by_session on employee.refresh_token (session_id);

create function employee.start_session(account_id text, scope text, digest bytea) returns void
language plpgsql volatile security definer
set search_path = employee, pg_temp as $$
begin
  with started as (
    insert into employee.session (account_id, scope) values (account_id, scope) returning id
  )
  insert into employee.refresh_token (digest, session_id) select start_session.digest, id from started;
  delete from employee.session where id in (
    select id from employee.session where expires_at < now() - interval '1 day'
    order by expires_at limit 5 for update skip locked);
end
$$;

-- Exchanges a refresh token for its successor. Outcomes:
--   rotated   the successor is stored
--   replayed  spent within the last 30 s: returns the same successor, in case the answer was lost
--   reused    spent before that, so there is a copy: the session is ended (RFC 9700, 4.14)
--   refused   unknown, expired, or of an ended session
create function employee.spend_token(presented bytea, successor bytea, sealed bytea)
returns table (outcome text, session_id uuid, account_id text, scope text, sealed_successor bytea)
language plpgsql volatile security definer
set search_path = employee, pg_temp as $$
#variable_conflict use_column
declare
  held employee.session;
  token employee.refresh_token;
begin
  -- serializes the exchanges of a session
  select s.* into held from employee.session s join employee.refresh_token t on t.session_id = s.id
  where t.digest = presented for update of s;
  if held.id is null or held.ended_at is not null or held.expires_at <= clock_timestamp() then
    return query select 'refused', held.id, null::text, null::text, null::bytea;
    return;
  end if;
  select * into token from employee.refresh_token where digest = presented;
  if token.spent_at is null then
    update employee.refresh_token set spent_at = clock_timestamp(), sealed_successor = sealed
    where digest = presented;
    insert into employee.refresh_token (digest, session_id) values (successor, held.id);
    return query select 'rotated', held.id, held.account_id, held.scope, sealed;
  elsif token.spent_at > clock_timestamp() - interval '30 seconds' then
    return query select 'replayed', held.id, held.account_id, held.scope, token.sealed_successor;
  else
    update employee.session set ended_at = clock_timestamp(), end_reason = 'reuse' where id = held.id;
    return query select 'reused', held.id, null::text, null::text, null::bytea;
  end if;
end
$$;

-- Lists the sessions that can be refreshed, for the operator.
create function employee.list_sessions()
returns table (session_id uuid, account_id text, scope text, started_at timestamptz, refreshed_at timestamptz, expires_at timestamptz)
language sql stable security definer
set search_path = employee, pg_temp
begin atomic
  select s.id, s.account_id, s.scope, s.started_at, max(t.issued_at), s.expires_at
  from employee.session s join employee.refresh_token t on t.session_id = s.id
  where s.ended_at is null and s.expires_at > now()
  group by s.id
  order by s.account_id, s.started_at;
end;

-- Ends a session, or all sessions of an account.
create function employee.end_sessions(session_or_account text) returns bigint
language sql volatile security definer
set search_path = employee, pg_temp
begin atomic
  with ended as (
    update employee.session set ended_at = now(), end_reason = 'operator'
    where session_or_account in (id::text, account_id) and ended_at is null and expires_at > now()
    returning 1
  )
  select count(*) from ended;
end;

grant usage on schema employee to municipal_employee, municipal_employee_admin;
grant execute on function employee.list_sessions, employee.end_sessions to municipal_employee_admin;
grant execute on function employee.reserve_attempt, employee.fail_attempt, employee.release_attempt,
  employee.pass_attempt, employee.start_session, employee.spend_token to municipal_employee;

reset role;
