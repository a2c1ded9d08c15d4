-- Sessions of employees who log in with an account of the legacy system, and the rate limit of logins.
set role municipal_owner;

-- Attempts to prove an identity to a legacy system. The source is the network, or the account that requests or uses
-- employees' tickets. All are digests with a pepper from outside the database: a typed username may be a password.
create table employee.attempt (
  id bigint generated always as identity primary key,
  -- null for the use of a ticket
  account_digest bytea,
  network_digest bytea,
  source_digest bytea,
  made_at timestamptz not null default clock_timestamp(),
  -- null while pending
  failed_at timestamptz
);
create index attempt_by_account on employee.attempt (account_digest, made_at);
create index attempt_by_source on employee.attempt (source_digest, made_at);
create index attempt_by_age on employee.attempt (made_at);

-- Networks from which an account has proved its identity.
create table employee.known_network (
  account_digest bytea,
  network_digest bytea,
  seen_at timestamptz not null default now(),
  primary key (account_digest, network_digest)
);
create index known_network_by_age on employee.known_network (seen_at);

-- The attempts in a window: failed, pending, and the time of the oldest.
create type employee.tally as (failed bigint, awaited bigint, oldest timestamptz);

-- Counts the attempts of a source, or those for an account: from one network, or from all if it is null.
--
-- An attempt that is pending for 15 s has lost its function or the database. It counts as failed for the rest of a
-- minute and then expires, so that an outage on our side locks nobody out.
create function employee.tally(account bytea, network bytea, source bytea, since timestamptz) returns employee.tally
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
create function employee.reserve_attempt(
  account bytea, network bytea, source bytea, out attempt_id bigint, out retry_after_seconds integer)
language plpgsql volatile security definer
set search_path = employee, pg_temp as $$
declare
  budget record;
  tallied employee.tally;
  refused boolean := false;
begin
  -- always in this order, so that callers do not deadlock; without account or source, nothing is locked
  perform pg_advisory_xact_lock(7206302, hashtext(encode(account, 'hex')));
  perform pg_advisory_xact_lock(7206303, hashtext(encode(source, 'hex')));

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

-- Remembers the network, and deletes the account's failures from it (NIST SP 800-63B, 5.2.2). If those from other
-- networks were deleted too, each login of the owner would give an attacker new attempts.
create function employee.pass_attempt(attempt_id bigint) returns void
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
create function employee.unlock_account(account bytea) returns bigint
language sql volatile security definer
set search_path = employee, pg_temp
begin atomic
  with gone as (
    delete from employee.attempt where account_digest = account and failed_at is not null returning 1
  )
  select count(*) from gone;
end;

-- Digests of the tickets of the last day, with the accounts that they were issued to.
create table employee.ticket (
  digest bytea,
  account_id text,
  issued_at timestamptz not null default now(),
  primary key (digest, account_id)
);
create index ticket_by_age on employee.ticket (issued_at);

create function employee.store_ticket(digest bytea, account_id text) returns void
language sql volatile security definer
set search_path = employee, pg_temp
begin atomic
  insert into employee.ticket (digest, account_id) values (store_ticket.digest, store_ticket.account_id)
  on conflict (digest, account_id) do update set issued_at = excluded.issued_at;
end;

create function employee.owns_ticket(digest bytea, account_id text) returns boolean
language sql stable security definer
set search_path = employee, pg_temp
return exists (
  select from employee.ticket t
  where t.digest = owns_ticket.digest and t.account_id = owns_ticket.account_id and t.issued_at > now() - interval '1 day'
);

-- A login and its refreshes: a family of refresh tokens.
create table employee.session (
  id uuid primary key default gen_random_uuid(),
  account_id text not null,
  -- digest of the username or NIP of the login, so that the operator can end the sessions of a name
  name_digest bytea not null,
  scope text not null,
  started_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '30 days',
  -- when the legacy system last confirmed the account, and was last asked
  confirmed_at timestamptz not null default now(),
  asked_at timestamptz not null default now(),
  ended_at timestamptz,
  end_reason text check (end_reason in ('reuse', 'operator', 'closed'))
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
  successor bytea,
  -- digest of the client that spent it
  spent_by bytea,
  -- that two clients got it, because the answer to the first was lost, or one of them is a thief
  is_shared boolean not null default false,
  check ((spent_at is null) = (sealed_successor is null) and (spent_at is null) = (successor is null)
    and (spent_at is null) = (spent_by is null))
);
create index refresh_token_by_session on employee.refresh_token (session_id);

create function employee.start_session(account_id text, name_digest bytea, scope text, digest bytea) returns void
language plpgsql volatile security definer
set search_path = employee, pg_temp as $$
begin
  with started as (
    insert into employee.session (account_id, name_digest, scope) values (account_id, name_digest, scope) returning id
  )
  insert into employee.refresh_token (digest, session_id) select start_session.digest, id from started;
  delete from employee.session where id in (
    select id from employee.session where expires_at < now() - interval '1 day'
    order by expires_at limit 5 for update skip locked);
end
$$;

-- Records that the legacy system knows the account of a session, and its present scope.
create function employee.confirm_session(session_id uuid, scope text) returns void
language sql volatile security definer
set search_path = employee, pg_temp
begin atomic
  update employee.session s set confirmed_at = clock_timestamp(), scope = confirm_session.scope where s.id = session_id;
end;

-- Limits a session to a day, because the legacy system cannot tell whether an account is closed: only a login can.
create function employee.limit_session(session_id uuid) returns void
language sql volatile security definer
set search_path = employee, pg_temp
begin atomic
  update employee.session s set expires_at = least(s.expires_at, s.confirmed_at + interval '1 day')
  where s.id = session_id;
end;

-- Ends all sessions of an account that is closed in the legacy system.
create function employee.close_account(account_id text) returns void
language sql volatile security definer
set search_path = employee, pg_temp
begin atomic
  update employee.session s set ended_at = clock_timestamp(), end_reason = 'closed'
  where s.account_id = close_account.account_id and s.ended_at is null;
end;

-- Exchanges a refresh token for its successor. Outcomes:
--   rotated      the successor is stored
--   replayed     spent within the last 30 s: returns the same successor, in case the answer was lost. Another client, as a
--                phone is that has changed its network, gets it only while it is unused, and not twice in a row: a thief
--                who keeps step with the owner is found at the second token
--   reused       any other use of a spent token, so there is a copy: the session is ended (RFC 9700, 4.14)
--   due          the legacy system is to be asked about the account, at most once a minute: then exchange the token again
--   unconfirmed  the legacy system has not confirmed the account for a day: the token remains valid
--   refused      unknown, expired, or of an ended session
create function employee.spend_token(presented bytea, successor bytea, sealed bytea, client bytea)
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
  if token.spent_at is null and held.asked_at <= clock_timestamp() - interval '1 minute' then
    update employee.session set asked_at = clock_timestamp() where id = held.id;
    return query select 'due', held.id, held.account_id, null::text, null::bytea;
  elsif token.spent_at is null and held.confirmed_at <= clock_timestamp() - interval '1 day' then
    return query select 'unconfirmed', held.id, null::text, null::text, null::bytea;
  elsif token.spent_at is null then
    update employee.refresh_token t
    set spent_at = clock_timestamp(), sealed_successor = sealed, successor = spend_token.successor, spent_by = client
    where digest = presented;
    insert into employee.refresh_token (digest, session_id) values (successor, held.id);
    return query select 'rotated', held.id, held.account_id, held.scope, sealed;
  elsif token.spent_at > clock_timestamp() - interval '30 seconds' and (token.spent_by = client or not token.is_shared
    and exists (select from employee.refresh_token t where t.digest = token.successor and t.spent_at is null))
  then
    update employee.refresh_token t set is_shared = true where t.digest = token.successor and token.spent_by <> client;
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

-- Ends a session, or all sessions of an account: the one with this ID, or those with a session from a login by this name.
create function employee.end_sessions(session_or_account text, name bytea) returns bigint
language sql volatile security definer
set search_path = employee, pg_temp
begin atomic
  with ended as (
    update employee.session set ended_at = now(), end_reason = 'operator'
    where ended_at is null and expires_at > now() and (session_or_account in (id::text, account_id)
      or account_id in (select account_id from employee.session where name_digest = name))
    returning 1
  )
  select count(*) from ended;
end;

grant usage on schema employee to municipal_employee, municipal_employee_ticket, municipal_employee_admin;
grant execute on function employee.list_sessions, employee.end_sessions, employee.unlock_account
  to municipal_employee_admin;
grant execute on function employee.reserve_attempt, employee.fail_attempt, employee.release_attempt,
  employee.pass_attempt to municipal_employee, municipal_employee_ticket;
grant execute on function employee.start_session, employee.confirm_session, employee.limit_session,
  employee.close_account, employee.spend_token to municipal_employee;
grant execute on function employee.store_ticket, employee.owns_ticket to municipal_employee_ticket;

reset role;
