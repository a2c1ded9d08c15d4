-- Reads any page and the exact total at the cost of one page, at any number of residents.
--
-- The order of all pages, (created_at, id), is divided into blocks of about 8,192 rows (resident.block_target), each
-- with a row count. A reader adds up the counts, finds the block that contains the page, and scans only that block.
--
-- Writers do not update counts, as they would wait for each other. They record the positions of changed rows
-- (resident-counting), which readers add to the counts until maintenance folds them in. Counts and changes are ordinary
-- rows under MVCC, so totals are exact in any snapshot, also while maintenance runs or after it was interrupted.
--
-- Logical replication needs all tables of this schema in one publication: applying changes fires no statement triggers,
-- so the counts must be replicated as rows. An initial copy does fire them: rebuild the counts on the subscriber.
set role municipal_owner;

create table resident.block (
  id integer generated always as identity primary key,
  -- first position of the block, which ends where the next one begins
  low_created_at timestamp(6) not null,
  low_id bigint not null,
  row_count integer not null,
  -- increases with every change of its rows
  version bigint not null default 0,
  -- of its profile (resident-search): the version of the block it was built from, and the generation of its strings
  profiled_version bigint,
  profile_generation integer
) with (fillfactor = 50);
create unique index block_newest on resident.block (low_created_at desc, low_id desc);

-- Changes since the counts were folded; with difference 0, only a name changed. They have positions instead of block
-- ids, because a position is valid for any block boundaries, in any snapshot.
create table resident.noted_change (
  -- for logical replication: without a key, a subscriber scans the table for each deleted row, and folding 20,000
  -- changes took 33 s instead of 3
  note bigint generated always as identity primary key,
  created_at timestamp(6) not null,
  id bigint not null,
  difference integer not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

-- Sums the changes of each block. Finds the block by binary search in an array, and by the index only if several blocks
-- begin at the same time and the position is before the last of them.
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
      offset 0 -- computes the place once, not at each use
    ) placed
  ) found
  group by found.block_id;
end;

-- Lists the blocks, newest first, with their row counts in the current snapshot, the position before which each ends,
-- and the generation of a valid profile. Sets no search path, so that the planner can inline it.
create function resident.counted_blocks() returns table (
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

-- Rows per new block: 8,192 for up to ten million residents, then in proportion to their square root, so that a billion
-- residents have 12,000 blocks: page 1 takes 1 to 5 ms with 12,500 blocks and 15 to 30 ms with 150,000.
create function resident.block_target(residents bigint) returns integer
language sql immutable
return greatest(8192, (2.6 * sqrt(residents))::integer);

-- Starts a maintenance function. They run one at a time, each in its own transaction.
create function resident.begin_upkeep() returns void
language plpgsql volatile as $$
begin
  -- an older snapshot would overwrite what another function has just stored
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception using errcode = 'invalid_transaction_state', message = 'upkeep runs in READ COMMITTED';
  end if;
  perform pg_advisory_xact_lock(7206306);
end
$$;

-- Lists blocks with a wrong count, of `most` random ones or of all. A count is wrong only if triggers were bypassed.
create function resident.recount(most integer default null)
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

reset role;
