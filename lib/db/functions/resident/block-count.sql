-- Reads any page and the exact total at the cost of one page, at any number of residents.
--
-- The order of all pages, (created_at, id), is divided into blocks of about 8,192 rows (resident.block_target), each
-- with a row count. A reader adds up the counts, finds the block that contains the page, and scans only that block.
--
-- Writers do not update counts, as they would wait for each other. They record the positions of changed rows
-- (resident/change), which readers add to the counts until maintenance applies them. Counts and changes are ordinary
-- rows under MVCC, so totals are exact in any snapshot, also while maintenance runs or after it was interrupted.
--
-- Logical replication needs all tables of this schema in one publication: applying changes fires no statement triggers,
-- so the counts must be replicated as rows. An initial copy does fire them: rebuild the counts on the subscriber.

-- Sums the changes of each block. Finds the block by binary search in an array, and by the index only if several blocks
-- begin at the same time and the position is before the last of them.
create or replace function resident.pending_differences() returns table (block_id integer, difference integer)
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
      from resident.pending_change
      offset 0 -- computes the place once, not at each use
    ) placed
  ) found
  group by found.block_id;
end;

-- Lists the blocks, newest first, with their row counts in the current snapshot, the position before which each ends,
-- and the generation of valid substring counts. Sets no search path, so that the planner can inline it.
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
    case when b.counted_version = b.version and n.block_id is null then b.counted_generation end
  from resident.block b left join resident.pending_differences() n on n.block_id = b.id
  window newest as (order by b.low_created_at desc, b.low_id desc);
end;

-- Starts a maintenance function. They run one at a time, each in its own transaction.
create or replace function resident.begin_upkeep() returns void
language plpgsql volatile as $$
begin
  -- an older snapshot would overwrite what another function has just stored
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception using errcode = 'invalid_transaction_state', message = 'upkeep runs in READ COMMITTED';
  end if;
  perform pg_advisory_xact_lock(7206306 /* residentUpkeep */);
end
$$;

-- Lists blocks with a wrong count, of `most` random ones or of all. A count is wrong only if triggers were bypassed.
create or replace function resident.recount(most integer default null)
returns table (block_id integer, counted integer, found integer)
language plpgsql stable security definer
set search_path = resident, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $$
begin
  return query
    select b.id, b.row_count, f.found
    from (select * from resident.counted_blocks() order by random() limit most) b
    cross join lateral (
      select count(*)::integer as found from resident.resident r
      where (r.created_at, r.id) >= (b.low_created_at, b.low_id)
        and (r.created_at, r.id) < (b.high_created_at, b.high_id)
    ) f
    where f.found <> b.row_count;
end
$$;

-- Applies pending changes to the counts, without blocking anyone. Returns their number.
create or replace function resident.apply_changes(most integer default 100000) returns integer
language plpgsql volatile security definer
set search_path = resident, pg_temp as $$
declare
  applied integer;
begin
  perform resident.begin_upkeep();
  with gone as (
    delete from resident.pending_change
    where ctid = any (array(select ctid from resident.pending_change limit most))
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
  select coalesce(sum(changes), 0) into applied from sums;
  return applied;
end
$$;

grant execute on function resident.apply_changes to municipal_maintenance, municipal_importer;
grant execute on function resident.recount to municipal_maintenance;
