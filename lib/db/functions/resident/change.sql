-- Keeps the block counts current: triggers record the changes of each statement, and maintenance applies them to the
-- counts.
--
-- A statement of few rows records the position of each, for 6 µs a row (24 µs if it looked up the block). It waits for
-- nobody and does not fail in REPEATABLE READ when block boundaries change. Therefore maintenance reads rows and
-- deletes their changes in one statement, from one snapshot.
--
-- A statement of many rows records one sum per block, to keep reads fast. The sums are valid only for the current
-- boundaries, so it takes a shared advisory lock, which a change of boundaries takes exclusively. In REPEATABLE READ it
-- fails with 40001 if boundaries changed after its snapshot; clients retry.

-- Records what a statement changed.
create or replace function resident.record_change() returns trigger
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  few constant integer := 100;
  recorded integer;
  -- a query for the other rows: created_at, id, difference
  more text;
begin
  if tg_op = 'INSERT' then
    insert into resident.pending_change (created_at, id, difference)
    select created_at, id, 1 from new_rows limit few;
    get diagnostics recorded = row_count;
    -- transition rows always have the same order
    if recorded = few then
      more := format('select created_at, id, 1 as difference from new_rows offset %s', few);
    end if;
  elsif tg_op = 'DELETE' then
    insert into resident.pending_change (created_at, id, difference)
    select created_at, id, -1 from old_rows limit few;
    get diagnostics recorded = row_count;
    if recorded = few then
      more := format('select created_at, id, -1 as difference from old_rows offset %s', few);
    end if;
  elsif exists (select from new_rows offset few) then
    -- not a join of old and new rows, because its plan may be for few rows
    more := '
      select created_at, id, sum(sign) as difference
      from (
        select created_at, id, name_search, -1 as sign from old_rows
        union all
        select created_at, id, name_search, 1 from new_rows
      ) both_rows
      group by created_at, id
      having sum(sign) <> 0
        or min(name_search) <> max(name_search)';
  else
    insert into resident.pending_change (created_at, id, difference)
    select created_at, id, sum(sign)
    from (
      select created_at, id, name_search, -1 as sign from old_rows
      union all
      select created_at, id, name_search, 1 from new_rows
    ) both_rows
    group by created_at, id
    having sum(sign) <> 0
      or min(name_search) <> max(name_search);
  end if;

  if more is not null then
    perform pg_advisory_xact_lock_shared(7206307 /* blockLayout */);
    if current_setting('transaction_isolation') <> 'read committed' then
      perform from resident.block_layout for share;
    end if;
    -- like pending_differences(): 0.7 µs a row instead of 4 to 6 by the index
    execute format('
      with layout as materialized (
        select array_agg(low_created_at order by low_created_at, low_id) as created_ats,
          array_agg(low_id order by low_created_at, low_id) as low_ids,
          array_agg(id order by low_created_at, low_id) as block_ids
        from resident.block
      )
      insert into resident.pending_change (created_at, id, difference)
      select b.low_created_at, b.low_id, found.difference
      from (
        select sum(difference) as difference, case
            when created_at > (select created_ats from layout)[place]
              or id >= (select low_ids from layout)[place]
              then (select block_ids from layout)[place]
            else (
              select b.id from resident.block b
              where (b.low_created_at, b.low_id) <= (created_at, placed.id)
              order by b.low_created_at desc, b.low_id desc limit 1
            )
          end as block_id
        from (
          select *, width_bucket(created_at, (select created_ats from layout)) as place
          from (%s) many
          offset 0
        ) placed
        group by block_id
      ) found join resident.block b on b.id = found.block_id', more);
  end if;
  return null;
end
$$;

create or replace function resident.refuse_truncate() returns trigger
language plpgsql
as $$
begin
  raise exception using
    errcode = 'feature_not_supported',
    message = 'residents cannot be truncated: their counts would stay',
    hint = 'Use DELETE. For an empty table: disable the trigger, TRUNCATE, enable it, «npm run city -- residents rebuild».';
end
$$;

-- ALWAYS: they also run if session_replication_role is replica.
create or replace trigger record_insert after insert on resident.resident
referencing new table as new_rows for each statement execute function resident.record_change();
create or replace trigger record_update after update on resident.resident
referencing old table as old_rows new table as new_rows for each statement execute function resident.record_change();
create or replace trigger record_delete after delete on resident.resident
referencing old table as old_rows for each statement execute function resident.record_change();
create or replace trigger refuse_truncate before truncate on resident.resident
for each statement execute function resident.refuse_truncate();
alter table resident.resident enable always trigger record_insert;
alter table resident.resident enable always trigger record_update;
alter table resident.resident enable always trigger record_delete;
alter table resident.resident enable always trigger refuse_truncate;

-- Lists triggers that are not ENABLE ALWAYS: pg_restore --data-only --disable-triggers ends with ENABLE TRIGGER ALL.
create or replace function resident.list_bypassable_triggers() returns table (name text)
language sql stable security definer
set search_path = resident, pg_temp
begin atomic
  select tgname::text from pg_trigger
  where tgrelid = 'resident.resident'::regclass and not tgisinternal and tgenabled <> 'A'
  order by tgname;
end;

-- Sets ENABLE ALWAYS again. Waits for current writers, and blocks new ones meanwhile.
create or replace function resident.restore_triggers() returns void
language plpgsql volatile security definer
set search_path = resident, pg_temp as $$
declare
  bypassable text;
begin
  for bypassable in select name from resident.list_bypassable_triggers() loop
    execute format('alter table resident.resident enable always trigger %I', bypassable);
  end loop;
end
$$;

grant execute on function resident.list_bypassable_triggers, resident.restore_triggers to municipal_maintenance;
