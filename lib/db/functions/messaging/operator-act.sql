-- Deletes the records of operators' actions that are older than the audit's limit.
create or replace function messaging.expire_acts(most integer) returns integer
language sql volatile security definer
set search_path = messaging, pg_temp
begin atomic
  with old as materialized (
    select id from messaging.operator_act where at < now() - audit.age_limit() order by id limit most
  ), results as (
    delete from messaging.operator_result where act in (select id from old)
  ), gone as (
    delete from messaging.operator_act where id in (select id from old) returning 1
  )
  select count(*)::integer from gone;
end;

grant execute on function messaging.expire_acts to municipal_maintenance;
