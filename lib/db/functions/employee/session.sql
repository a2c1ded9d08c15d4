create or replace function employee.start_session(account_id text, name_digest bytea, scope text, digest bytea) returns void
language sql volatile security definer
set search_path = employee, pg_temp
begin atomic
  with started as (
    insert into employee.session (account_id, name_digest, scope) values (account_id, name_digest, scope) returning id
  )
  insert into employee.refresh_token (digest, session_id) select start_session.digest, id from started;
end;

-- Records that the legacy system knows the account of a session, and its present scope.
create or replace function employee.confirm_session(session_id uuid, scope text) returns void
language sql volatile security definer
set search_path = employee, pg_temp
begin atomic
  update employee.session s set confirmed_at = clock_timestamp(), scope = confirm_session.scope where s.id = session_id;
end;

-- Limits a session to a day, because the legacy system cannot tell whether an account is closed: only a login can.
create or replace function employee.limit_session(session_id uuid) returns void
language sql volatile security definer
set search_path = employee, pg_temp
begin atomic
  update employee.session s set expires_at = least(s.expires_at, s.confirmed_at + interval '1 day')
  where s.id = session_id;
end;

-- Ends all sessions of an account that is closed in the legacy system.
create or replace function employee.close_account(account_id text) returns void
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
create or replace function employee.spend_token(presented bytea, successor bytea, sealed bytea, client bytea)
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
create or replace function employee.list_sessions()
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
create or replace function employee.end_sessions(session_or_account text, name bytea) returns bigint
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

grant execute on function employee.list_sessions, employee.end_sessions to municipal_employee_admin;
grant execute on function employee.start_session, employee.confirm_session, employee.limit_session,
  employee.close_account, employee.spend_token to municipal_employee;
