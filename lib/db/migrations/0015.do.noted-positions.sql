-- Writers note where they changed a row, not in which block, which upkeep and readers find out: a single row costs
-- its writer 6 µs more than without counting, where it cost 24 (8 writers of single rows had 0.77 of their rate).
--
-- A position is right under any boundaries, in any snapshot. So a writer of few rows waits for nobody, nobody waits
-- for him, and in REPEATABLE READ he fails no more where boundaries moved. For this, upkeep reads rows and takes
-- notes in one statement, as only what one snapshot sees belongs together.
--
-- A statement of many rows would leave as many notes for readers to add up. It still notes sums, each at the
-- beginning of its block, which is right for these boundaries alone: the fence stays for it.
set role municipal_owner;

-- What statements changed since the counts were folded, as block_change was.
create table resident.noted_change (
  created_at timestamp(6) not null,
  id bigint not null,
  difference integer not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

-- What was noted since, block by block. The block of a position is found by binary search in an array, which is
-- right but where several blocks begin at the very time, and the position is before the last of them.
create function resident.noted_differences() returns table (block_id integer, difference integer)
language sql stable
begin atomic
  with layout as materialized (
    select array_agg(low_created_at order by low_created_at, low_id) as created_ats,
      array_agg(low_id order by low_created_at, low_id) as low_ids,
      array_agg(id order by low_created_at, low_id) as block_ids
    from resident.block
  )
  select found.block_id, sum(found.difference)::integer
  from (
    select difference, case
        when created_at > (select created_ats from layout)[place] or id >= (select low_ids from layout)[place]
          then (select block_ids from layout)[place]
        else (
          select b.id from resident.block b where (b.low_created_at, b.low_id) <= (created_at, placed.id)
          order by b.low_created_at desc, b.low_id desc limit 1
        )
      end as block_id
    from (
      select created_at, id, difference, width_bucket(created_at, (select created_ats from layout)) as place
      from resident.noted_change
      offset 0 -- so that the place is computed once, not wherever it stands
    ) placed
  ) found
  group by found.block_id;
end;

-- The blocks with what their rows count in this very snapshot, newest first, each with the position before
-- which it ends, and the generation of its profile where that is valid. No search path of its own, so that a
-- query takes it in like a view.
create or replace function resident.counted_blocks() returns table (
  id integer, low_created_at timestamp, low_id bigint, high_created_at timestamp, high_id bigint,
  row_count integer, version bigint, is_changed boolean, valid_generation integer
)
language sql stable
begin atomic
  select b.id, b.low_created_at, b.low_id,
    lag(b.low_created_at, 1, 'infinity'::timestamp) over newest,
    lag(b.low_id, 1, 9223372036854775807) over newest,
    b.row_count + coalesce(n.difference, 0),
    b.version, n.block_id is not null,
    case when b.profiled_version = b.version and n.block_id is null then b.profile_generation end
  from resident.block b left join resident.noted_differences() n on n.block_id = b.id
  window newest as (order by b.low_created_at desc, b.low_id desc);
end;

create or replace function resident.read_list(page_number bigint, page_size integer) returns resident.page
language plpgsql stable
set search_path = resident, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  page resident.page;
  skipped bigint := (page_number - 1) * page_size;
  high_created_at timestamp(6);
  high_id bigint;
  ids bigint[];
begin
  page.total := (select sum(row_count) from resident.block)
    + coalesce((select sum(difference) from resident.noted_change), 0);
  if skipped < page.total then
    -- counted_blocks() with a sum, in one pass
    select b.high_created_at, b.high_id, skipped - (b.up_to - b.row_count)
    into high_created_at, high_id, skipped
    from (
      select b.low_created_at, b.low_id, b.row_count + coalesce(n.difference, 0) as row_count,
        lag(b.low_created_at, 1, 'infinity'::timestamp) over newest as high_created_at,
        lag(b.low_id, 1, 9223372036854775807) over newest as high_id,
        sum(b.row_count + coalesce(n.difference, 0)) over newest as up_to
      from resident.block b left join resident.noted_differences() n on n.block_id = b.id
      window newest as (order by b.low_created_at desc, b.low_id desc)
    ) b
    where b.up_to > skipped
    order by b.low_created_at desc, b.low_id desc limit 1;
    ids := array(
      select id from resident.resident where (created_at, id) < (high_created_at, high_id)
      order by created_at desc, id desc offset skipped limit page_size);
  end if;
  page.residents := resident.show(ids);
  return page;
end
$$;

-- Adds what was noted to the counts. Stops nobody. Returns how many changes it folded.
create or replace function resident.fold_changes(most integer default 100000) returns integer
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

-- Splits the biggest block, once it holds twice the target: the oldest rows go into new blocks, at most so many
-- at a time. Only writers of many rows wait for the end. Returns how many blocks were added. Fails with 55P03
-- after 3 s where such a writer does not end; then the next run does it.
create or replace function resident.split_block(target integer default 8192, most integer default 16) returns integer
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
  -- one statement: the rows that it sees are those whose notes it takes
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
  -- so that sessions plan anew: what they planned for few blocks must not stay
  analyze resident.block;
  return added;
end
$$;

-- Cuts everything anew. Writers of many rows wait meanwhile (some 10 s for ten million rows), others do not.
create or replace function resident.rebuild_blocks(target integer default 8192) returns void
language plpgsql volatile security definer
set search_path = resident, pg_temp as $$
begin
  perform resident.begin_upkeep();
  perform pg_advisory_xact_lock(7206307);
  update resident.block_layout set version = version + 1;
  delete from resident.block;
  -- one statement: the rows that it counts are those whose notes it takes
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
  -- whatever comes before the oldest row belongs to the oldest block
  update resident.block set low_created_at = '-infinity', low_id = 0
  where id = (select id from resident.block order by low_created_at, low_id limit 1);
  if not found then
    insert into resident.block (low_created_at, low_id, row_count) values ('-infinity', 0, 0);
  end if;
  analyze resident.block;
end
$$;

-- How things stand, for the operator.
create or replace function resident.read_status() returns table (
  residents bigint, blocks bigint, biggest_block integer, pending_changes bigint,
  stale_profiles bigint, frequent_terms bigint, profile_bytes bigint
)
language sql stable security definer
set search_path = resident, pg_temp
begin atomic
  select sum(b.row_count), count(*), max(b.row_count),
    (select count(*) from resident.noted_change),
    count(*) filter (where b.valid_generation >= v.generation is not true),
    (select count(*) from resident.frequent_term),
    pg_total_relation_size('resident.name_profile')
  from resident.counted_blocks() b, resident.vocabulary v;
end;

-- Upkeep and writers end, so that all their notes are seen, and go on with the new ones. Readers do not wait.
select resident.begin_upkeep();
lock table resident.resident in share row exclusive mode;

with gone as (
  delete from resident.block_change returning block_id, difference
), sums as (
  select block_id, sum(difference) as difference from gone group by block_id
)
update resident.block b set row_count = b.row_count + s.difference, version = b.version + 1
from sums s where b.id = s.block_id;

-- The old table stays, empty, for readers that began before, and so in an older snapshot. Of upkeep and writers, one
-- that still runs the function of before would count wrongly.
comment on table resident.block_change is 'Of before migration 0015; a later one may drop it.';
create function resident.refuse_old_note() returns trigger
language plpgsql as $$
begin
  raise exception using
    errcode = 'serialization_failure',
    message = 'how residents are counted was changed meanwhile',
    hint = 'Repeat the transaction.';
end
$$;
create trigger refuse_old_note before insert or update or delete on resident.block_change
for each statement execute function resident.refuse_old_note();

-- Notes what a statement changed. Every name is qualified: it runs as its owner, under the search path of whoever
-- writes, as a search path that is set for each call costs a single row more than all else.
--
-- The advisory lock is the fence of who notes sums: whoever moves boundaries waits until this transaction ends, and
-- is waited for here. A later snapshot then sees them; a REPEATABLE READ transaction keeps its old one, and fails
-- with 40001 where boundaries moved since it began, which its client repeats.
create or replace function resident.note_change() returns trigger
language plpgsql volatile security definer
as $$
declare
  few constant integer := 100;
  noted integer;
  -- where there are more: a query of created_at, id and difference
  more text;
begin
  if tg_op operator(pg_catalog.=) 'INSERT' then
    insert into resident.noted_change (created_at, id, difference)
    select created_at, id, 1 from new_rows limit few;
    get diagnostics noted = row_count;
    -- the rest: transition rows always come in the same order
    if noted operator(pg_catalog.=) few then
      more := pg_catalog.format('select created_at, id, 1 as difference from new_rows offset %s', few);
    end if;
  elsif tg_op operator(pg_catalog.=) 'DELETE' then
    insert into resident.noted_change (created_at, id, difference)
    select created_at, id, -1 from old_rows limit few;
    get diagnostics noted = row_count;
    if noted operator(pg_catalog.=) few then
      more := pg_catalog.format('select created_at, id, -1 as difference from old_rows offset %s', few);
    end if;
  elsif exists (select from new_rows offset few) then
    -- A difference of 0: the name is another one. Not a join of old and new rows, whose plan may be one for few
    -- rows when there are many.
    more := '
      select created_at, id, pg_catalog.sum(sign) as difference
      from (
        select created_at, id, name_search, -1 as sign from old_rows
        union all
        select created_at, id, name_search, 1 from new_rows
      ) both_rows
      group by created_at, id
      having pg_catalog.sum(sign) operator(pg_catalog.<>) 0
        or pg_catalog.min(name_search) operator(pg_catalog.<>) pg_catalog.max(name_search)';
  else
    insert into resident.noted_change (created_at, id, difference)
    select created_at, id, pg_catalog.sum(sign)
    from (
      select created_at, id, name_search, -1 as sign from old_rows
      union all
      select created_at, id, name_search, 1 from new_rows
    ) both_rows
    group by created_at, id
    having pg_catalog.sum(sign) operator(pg_catalog.<>) 0
      or pg_catalog.min(name_search) operator(pg_catalog.<>) pg_catalog.max(name_search);
  end if;

  if more is not null then
    perform pg_catalog.pg_advisory_xact_lock_shared(7206307);
    if pg_catalog.current_setting('transaction_isolation') operator(pg_catalog.<>) 'read committed' then
      perform from resident.block_layout for share;
    end if;
    -- as noted_differences() does: 0.7 µs a row, where the index of blocks takes 4 to 6
    execute pg_catalog.format('
      with layout as materialized (
        select pg_catalog.array_agg(low_created_at order by low_created_at, low_id) as created_ats,
          pg_catalog.array_agg(low_id order by low_created_at, low_id) as low_ids,
          pg_catalog.array_agg(id order by low_created_at, low_id) as block_ids
        from resident.block
      )
      insert into resident.noted_change (created_at, id, difference)
      select b.low_created_at, b.low_id, found.difference
      from (
        select pg_catalog.sum(difference) as difference, case
            when created_at operator(pg_catalog.>) (select created_ats from layout)[place]
              or id operator(pg_catalog.>=) (select low_ids from layout)[place]
              then (select block_ids from layout)[place]
            else (
              select b.id from resident.block b
              where (b.low_created_at, b.low_id) operator(pg_catalog.<=) (created_at, placed.id)
              order by b.low_created_at desc, b.low_id desc limit 1
            )
          end as block_id
        from (
          select *, pg_catalog.width_bucket(created_at, (select created_ats from layout)) as place
          from (%s) many
          offset 0
        ) placed
        group by block_id
      ) found join resident.block b on b.id operator(pg_catalog.=) found.block_id', more);
  end if;
  return null;
end
$$;

reset role;
