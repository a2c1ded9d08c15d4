-- Scheduled maintenance. Its role may execute the functions that are granted here, and has no access to tables.
set role municipal_owner;

-- Deletes rows older than a month. Recipients in a current audience are marked as seen every day. A bulk run is known as long
-- as its recipients are: without it, the same file would be sent again.
create function notification.expire(most integer) returns integer
language sql volatile security definer
set search_path = notification, pg_temp
begin atomic
  with runs as (
    delete from notification.run where id in (
      select id from notification.run past
      where changed_at < now() - interval '30 days'
        and (template is null or not exists (select from notification.recipient where run_id = past.id))
      limit most)
    returning 1
  ), recipients as (
    delete from notification.recipient where (job, occasion, dedupe_key) in (
      select job, occasion, dedupe_key from notification.recipient
      where seen_at < now() - interval '30 days'
        -- those of a bulk run together: its last message may be due a month after its first
        and (run_id is null or run_id not in (
          select id from notification.run bulk where template is not null and exists (
            select from notification.recipient where run_id = bulk.id and seen_at >= now() - interval '30 days')))
      limit most)
    returning 1
  ), requests as (
    delete from notification.request where id in (
      select id from notification.request where changed_at < now() - interval '30 days' limit most)
    returning 1
  )
  select greatest((select count(*) from runs), (select count(*) from recipients), (select count(*) from requests))::integer;
end;

-- Deletes the records of operators' actions that are older than the audit's limit.
create function messaging.expire_acts(most integer) returns integer
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

grant usage on schema employee, messaging, notification, resident, audit to municipal_maintenance;
grant execute on function messaging.expire_acts, notification.expire,
  resident.fold_changes, resident.split_block, resident.rebuild_blocks, resident.recount,
  resident.list_stale_blocks, resident.read_names, resident.store_profiles, resident.read_vocabulary,
  resident.sample_names, resident.store_vocabulary, resident.read_profile, resident.read_status,
  resident.choose_blocks, resident.merge_trigrams, resident.list_bypassable_triggers, resident.restore_triggers,
  resident.count_outdated_names, resident.refresh_names,
  audit.extend_partitions, audit.find_settled_id, audit.seal_reads, audit.list_unanchored, audit.record_anchor,
  audit.expire_reads, audit.verify_seals
to municipal_maintenance;

-- an import ends with the upkeep of what it has changed
grant execute on function resident.fold_changes, resident.split_block, resident.list_stale_blocks, resident.read_names,
  resident.store_profiles, resident.read_vocabulary, resident.sample_names, resident.store_vocabulary
to municipal_importer;

reset role;
