-- Rows per new block: 8,192 for up to ten million residents, then in proportion to their square root, so that a billion
-- residents have 12,000 blocks: page 1 takes 1 to 5 ms with 12,500 blocks and 15 to 30 ms with 150,000.
create or replace function resident.block_target(residents bigint) returns integer
language sql immutable
return greatest(8192, (2.6 * sqrt(residents))::integer);

-- Splits the largest block if it has at least twice the target. Adds at most `most` blocks, and returns their number.
-- Only statements of many rows wait for it; it fails with 55P03 if one of them takes more than 3 s.
create or replace function resident.split_block(target integer default null, most integer default 16) returns integer
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

  perform pg_advisory_xact_lock(7206307 /* blockLayout */);
  update resident.block_layout set version = version + 1;
  -- one statement, so that it deletes the changes of exactly the rows that it counts
  with recursive gone as (
    delete from resident.pending_change
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
create or replace function resident.rebuild_blocks(target integer default null) returns void
language plpgsql volatile security definer
set search_path = resident, pg_temp as $$
begin
  perform resident.begin_upkeep();
  perform pg_advisory_xact_lock(7206307 /* blockLayout */);
  target := coalesce(target, resident.block_target((select count(*) from resident.resident)));
  update resident.block_layout set version = version + 1;
  delete from resident.block;
  -- one statement, as in split_block
  with gone as (
    delete from resident.pending_change
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

grant execute on function resident.split_block to municipal_maintenance, municipal_importer;
grant execute on function resident.rebuild_blocks to municipal_maintenance;
