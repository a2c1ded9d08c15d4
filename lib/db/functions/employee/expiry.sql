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

-- The same for sessions, with up to 2,880 refresh tokens each, one per quarter of an hour.
create or replace function employee.expire_sessions(most integer) returns integer
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

grant execute on function employee.expire_attempts, employee.expire_sessions to municipal_maintenance;
