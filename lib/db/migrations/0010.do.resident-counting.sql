-- Keeps the block counts current: triggers record the changes of each statement, and maintenance folds them into the
-- counts.
--
-- A statement of few rows records the position of each, for 6 µs a row (24 µs if it looked up the block). It waits for
-- nobody and does not fail in REPEATABLE READ when block boundaries change. Therefore maintenance reads rows and
-- deletes their changes in one statement, from one snapshot.
--
-- A statement of many rows records one sum per block, to keep reads fast. The sums are valid only for the current
-- boundaries, so it takes a shared advisory lock, which a change of boundaries takes exclusively. In REPEATABLE READ it
-- fails with 40001 if boundaries changed after its snapshot; clients retry.
set role municipal_owner;

-- The version of the block boundaries, which detects writers with an older snapshot.
create table resident.block_layout (
  is_only boolean primary key default true check (is_only),
  version bigint not null
);
insert into resident.block_layout (version) values (0);

-- Records what a statement changed.
create function resident.note_change() returns trigger
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  few constant integer := 100;
  noted integer;
  -- a query for the other rows: created_at, id, difference
  more text;
begin
  if tg_op = 'INSERT' then
    insert into resident.noted_change (created_at, id, difference)
    select created_at, id, 1 from new_rows limit few;
    get diagnostics noted = row_count;
    -- transition rows always have the same order
    if noted = few then
      more := format('select created_at, id, 1 as difference from new_rows offset %s', few);
    end if;
  elsif tg_op = 'DELETE' then
    insert into resident.noted_change (created_at, id, difference)
    select created_at, id, -1 from old_rows limit few;
    get diagnostics noted = row_count;
    if noted = few then
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
    insert into resident.noted_change (created_at, id, difference)
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
    perform pg_advisory_xact_lock_shared(7206307);
    if current_setting('transaction_isolation') <> 'read committed' then
      perform from resident.block_layout for share;
    end if;
    -- like noted_differences(): 0.7 µs a row instead of 4 to 6 by the index
    execute format('
      with layout as materialized (
        select array_agg(low_created_at order by low_created_at, low_id) as created_ats,
          array_agg(low_id order by low_created_at, low_id) as low_ids,
          array_agg(id order by low_created_at, low_id) as block_ids
        from resident.block
      )
      insert into resident.noted_change (created_at, id, difference)
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

create function resident.refuse_truncate() returns trigger
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
create trigger note_insert after insert on resident.resident
referencing new table as new_rows for each statement execute function resident.note_change();
create trigger note_update after update on resident.resident
referencing old table as old_rows new table as new_rows for each statement execute function resident.note_change();
create trigger note_delete after delete on resident.resident
referencing old table as old_rows for each statement execute function resident.note_change();
create trigger refuse_truncate before truncate on resident.resident
for each statement execute function resident.refuse_truncate();
alter table resident.resident enable always trigger note_insert;
alter table resident.resident enable always trigger note_update;
alter table resident.resident enable always trigger note_delete;
alter table resident.resident enable always trigger refuse_truncate;

-- Folds pending changes into the counts, without blocking anyone. Returns their number.
create function resident.fold_changes(most integer default 100000) returns integer
language plpgsql volatile security definer
set search_path = resident, pg_temp as $$
declare
  folded integer;
begin
  perform resident.begin_upkeep();
  with gone as (
    delete from resident.noted_change
    where ctid = any (array(select ctid from resident.noted_change limit most))
    returning created_at, id, difference
  ), placed as (
    select block_id, difference, count(block_id) over (order by created_at, id) as place
    from (
      select id as block_id, low_created_at as created_at, low_id as id, null as difference from resident.block
      union all
      select null, created_at, id, difference from gone
    ) entry
  ), sums as (
    select max(block_id) as block_id, sum(difference) as difference, count(difference) as changes
    from placed group by place having count(difference) > 0
  ), counted as (
    update resident.block b set row_count = b.row_count + s.difference, version = b.version + 1
    from sums s where b.id = s.block_id
  )
  select coalesce(sum(changes), 0) into folded from sums;
  return folded;
end
$$;

-- Splits the largest block if it has at least twice the target. Adds at most `most` blocks, and returns their number.
-- Only statements of many rows wait for it; it fails with 55P03 if one of them takes more than 3 s.
create function resident.split_block(target integer default null, most integer default 16) returns integer
language plpgsql volatile security definer
set search_path = resident, pg_temp
set lock_timeout = '3s'
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
declare
  big record;
  added integer;
begin
  perform resident.begin_upkeep();
  target := coalesce(target, resident.block_target((select sum(row_count) from resident.block)));
  select id, low_created_at, low_id,
    lead(low_created_at, 1, 'infinity'::timestamp) over oldest as high_created_at,
    lead(low_id, 1, 9223372036854775807) over oldest as high_id,
    row_count
  into big from resident.block
  window oldest as (order by low_created_at, low_id)
  order by row_count desc limit 1;
  if big.row_count < 2 * target then
    return 0;
  end if;

  perform pg_advisory_xact_lock(7206307);
  update resident.block_layout set version = version + 1;
  -- one statement, so that it deletes the changes of exactly the rows that it counts
  with recursive gone as (
    delete from resident.noted_change
    where (created_at, id) >= (big.low_created_at, big.low_id)
      and (created_at, id) < (big.high_created_at, big.high_id)
    returning difference
  ), rest as (
    select big.row_count + coalesce(sum(difference), 0) as row_count from gone
  ), cut (piece, created_at, id) as (
    select 0, big.low_created_at, big.low_id
    union all
    select cut.piece + 1, r.created_at, r.id
    from cut cross join lateral (
      select created_at, id from resident.resident
      where (created_at, id) >= (cut.created_at, cut.id)
      order by created_at, id offset target limit 1
    ) r
    where cut.piece < (select least(most, (row_count - 1) / target) from rest)
  ), added as (
    insert into resident.block (low_created_at, low_id, row_count)
    select created_at, id, case
        when piece < (select max(piece) from cut) then target
        else (select row_count from rest) - piece * target
      end
    from cut where piece > 0
  ), counted as (
    update resident.block b set version = version + 1, row_count = least(rest.row_count, case
        when (select max(piece) from cut) > 0 then target
      end)
    from rest where b.id = big.id
  )
  select max(piece) into added from cut;
  -- invalidates plans that were made for few blocks
  analyze resident.block;
  return added;
end
$$;

-- Recreates all blocks. Only statements of many rows wait for it, about 10 s for ten million residents.
create function resident.rebuild_blocks(target integer default null) returns void
language plpgsql volatile security definer
set search_path = resident, pg_temp as $$
begin
  perform resident.begin_upkeep();
  perform pg_advisory_xact_lock(7206307);
  target := coalesce(target, resident.block_target((select count(*) from resident.resident)));
  update resident.block_layout set version = version + 1;
  delete from resident.block;
  -- one statement, as in split_block
  with gone as (
    delete from resident.noted_change
  ), placed as (
    select created_at, id, row_number() over (order by created_at, id) as place from resident.resident
  ), lows as (
    select created_at, id, place from placed where (place - 1) % target = 0
  )
  insert into resident.block (low_created_at, low_id, row_count)
  select created_at, id, lead(place, 1, (select count(*) + 1 from resident.resident)) over (order by place) - place
  from lows
  order by place;
  -- the oldest block includes all positions before its first row
  update resident.block set low_created_at = '-infinity', low_id = 0
  where id = (select id from resident.block order by low_created_at, low_id limit 1);
  if not found then
    insert into resident.block (low_created_at, low_id, row_count) values ('-infinity', 0, 0);
  end if;
  analyze resident.block;
end
$$;

-- Lists triggers that are not ENABLE ALWAYS: pg_restore --data-only --disable-triggers ends with ENABLE TRIGGER ALL.
create function resident.list_bypassable_triggers() returns table (name text)
language sql stable security definer
set search_path = resident, pg_temp
begin atomic
  select tgname::text from pg_trigger
  where tgrelid = 'resident.resident'::regclass and not tgisinternal and tgenabled <> 'A'
  order by tgname;
end;

-- Sets ENABLE ALWAYS again. Waits for current writers, and blocks new ones meanwhile.
create function resident.restore_triggers() returns void
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

-- creates the first block
select resident.rebuild_blocks();

reset role;
