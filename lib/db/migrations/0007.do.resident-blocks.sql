-- Any page and the exact total at the cost of one page, however many residents there are.
--
-- The order of all pages, (created_at, id), is cut into blocks of about 8,192 rows (more beyond ten million residents:
-- resident.block_target), and each block has a count of its rows. A reader adds up the counts, finds the block that
-- holds the page, and walks within it.
--
-- Writers never update a count, as they would queue for its row. They note in which position rows came and went
-- (resident-counting), and readers add the notes to the counts. Upkeep folds notes into counts and splits blocks
-- that have grown. All of it is ordinary rows under MVCC, so total and page are right in any snapshot, also while
-- upkeep runs or is killed.
--
-- Logical replication must have all tables of this schema in one publication: applying changes fires no statement
-- trigger, so the counts reach the subscriber as rows only. A subscription that copies the tables first does fire them
-- (for COPY): rebuild the counts there before it is used.
set role municipal_owner;

create table resident.block (
  id integer generated always as identity primary key,
  -- the first position of the block; it ends where the next one begins
  low_created_at timestamp(6) not null,
  low_id bigint not null,
  row_count integer not null,
  -- goes up with every change of what the block holds
  version bigint not null default 0,
  -- of the block's profile (resident-search): the version that it was made from, and the strings that it counts
  profiled_version bigint,
  profile_generation integer
) with (fillfactor = 50);
create unique index block_newest on resident.block (low_created_at desc, low_id desc);

-- What statements changed since counts were folded. A difference of 0: no row came or went, but a name changed.
--
-- A note is a position, not a block: a position is right under any boundaries, in any snapshot.
create table resident.noted_change (
  -- Nothing asks for it, but rows of a published table can be deleted by a key alone, and a subscriber without one reads
  -- the table for each: a fold of 20,000 notes took 33 s instead of 3.
  note bigint generated always as identity primary key,
  created_at timestamp(6) not null,
  id bigint not null,
  difference integer not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

-- The sum of notes for each block. The block of a position is found by binary search in an array. Only where
-- several blocks begin at the same time, and the position is before the last of them, the index is asked.
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

-- The blocks with the number of their rows in the current snapshot, newest first, each with the position before
-- which it ends, and the generation of its profile if that is valid. It sets no search path, so that the planner
-- inlines it like a view.
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

reset role;
