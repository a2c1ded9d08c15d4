-- The role of the scheduled upkeep. It may execute the functions made for it and touch no table itself.
do $$
begin
  if not exists (select from pg_roles where rolname = 'municipal_maintenance') then
    create role municipal_maintenance nologin;
  end if;
  execute format('grant connect on database %I to municipal_maintenance', current_database());
end
$$;

alter role municipal_maintenance login;
-- Work is done in small pieces, so that it can be broken off between any two of them.
alter role municipal_maintenance set statement_timeout = '20s';
-- A run whose function was killed must not hold the lock against the next ones.
alter role municipal_maintenance set idle_in_transaction_session_timeout = '30s';
alter role municipal_maintenance set idle_session_timeout = '1min';

set role municipal_owner;

-- A new attempt takes a few old ones with it; these are the ones that no new one came for.
create function employee.expire_attempts(most integer) returns integer
language sql volatile security definer
set search_path = employee, pg_temp
begin atomic
  with gone as (
    delete from employee.attempt where id in (
      select id from employee.attempt where made_at < now() - interval '1 day'
      order by made_at limit most for update skip locked)
    returning 1
  )
  select count(*)::integer from gone;
end;

-- The same for sessions, with their refresh tokens: up to 2,880 of them each, one for every quarter of an hour.
create function employee.expire_sessions(most integer) returns integer
language sql volatile security definer
set search_path = employee, pg_temp
begin atomic
  with gone as (
    delete from employee.session where id in (
      select id from employee.session where expires_at < now() - interval '1 day'
      order by expires_at limit most for update skip locked)
    returning 1
  )
  select count(*)::integer from gone;
end;

grant usage on schema employee to municipal_maintenance;
grant execute on function employee.expire_attempts, employee.expire_sessions to municipal_maintenance;

reset role;
