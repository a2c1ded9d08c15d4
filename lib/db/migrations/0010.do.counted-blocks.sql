-- Any page and the exact total at the cost of one page, however many residents there are.
--
-- The order of all pages, (created_at, id), is cut into blocks of about 8,192 rows, and each block knows how
-- many it holds. A reader adds up the blocks, finds the one that holds the page, and walks within it.
-- Writers never update a count, for which they would queue: each statement appends what it changed in each
-- block, in its own transaction, and readers add that up too. Upkeep folds these changes into the counts and
-- splits what grew too big. All of it is ordinary rows under MVCC, so total and page are right in any
-- snapshot, also while upkeep runs or dies.
set role municipal_owner;

-- Readers go on while this is made: what stops them stands at the end of this file.
create index resident_newest_name on resident.resident (created_at desc, id desc) include (name_search);

create table resident.block (
  id integer generated always as identity primary key,
  -- the first position of the block; it ends where the next one begins
  low_created_at timestamp(6) not null,
  low_id bigint not null,
  row_count integer not null,
  -- goes up with every change of what the block holds
  version bigint not null default 0,
  -- of the block's profile (next migration): what it was made from, and which strings it has
  profiled_version bigint,
  profile_generation integer
) with (fillfactor = 50);
create unique index block_newest on resident.block (low_created_at desc, low_id desc);

-- What statements changed since the counts were folded. A difference of 0: no row came or went, but a name
-- is another one. Without index, so that appending is all that a writer pays.
create table resident.block_change (
  block_id integer not null,
  difference integer not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

-- Counts the changes of boundaries, for writers whose snapshot is older than the boundaries.
create table resident.block_layout (
  is_only boolean primary key default true check (is_only),
  version bigint not null
);
insert into resident.block_layout (version) values (0);

-- Notes what a statement changed in each block. It costs a single insert some 50 µs, and so has no settings but
-- the search path: those that force plans cost as much again.
--
-- The advisory lock is a fence: whoever moves boundaries waits until this transaction ends, and is waited for
-- here. A later snapshot then sees them; a REPEATABLE READ transaction keeps its old one, and fails with 40001
-- where boundaries moved since it began, which its client repeats.
create function resident.note_change() returns trigger
language plpgsql volatile security definer
set search_path = resident, pg_temp
as $$
begin
  -- an expression, not a statement: 10 µs less
  if pg_advisory_xact_lock_shared(7206307) is null then
    return null;
  end if;
  if current_setting('transaction_isolation') <> 'read committed' then
    perform from resident.block_layout for share;
  end if;
  case tg_op
  when 'INSERT' then
    insert into resident.block_change (block_id, difference)
    select (
      select id from resident.block where (low_created_at, low_id) <= (r.created_at, r.id)
      order by low_created_at desc, low_id desc limit 1
    ), count(*)
    from new_rows r group by 1;
  when 'DELETE' then
    insert into resident.block_change (block_id, difference)
    select (
      select id from resident.block where (low_created_at, low_id) <= (r.created_at, r.id)
      order by low_created_at desc, low_id desc limit 1
    ), -count(*)
    from old_rows r group by 1;
  else
    -- not a join of old and new rows, whose plan may be one for few rows when there are many
    insert into resident.block_change (block_id, difference)
    select (
      select id from resident.block where (low_created_at, low_id) <= (r.created_at, r.id)
      order by low_created_at desc, low_id desc limit 1
    ), sum(r.difference)
    from (
      select created_at, id, sum(sign) as difference
      from (
        select created_at, id, name_search, -1 as sign from old_rows
        union all
        select created_at, id, name_search, 1 from new_rows
      ) both_rows
      group by created_at, id, name_search
      having sum(sign) <> 0
    ) r
    group by 1;
  end case;
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
    hint = 'Use DELETE. For an empty table: disable the trigger, TRUNCATE, enable it, «npm run residents -- rebuild».';
end
$$;

-- Upkeep. Its functions take turns; each does a bounded piece and commits by itself, so that one that is killed
-- leaves everything as it was.

create function resident.begin_upkeep() returns void
language plpgsql volatile as $$
begin
  -- in an older snapshot it would overwrite what another upkeep has just stored
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception using errcode = 'invalid_transaction_state', message = 'upkeep runs in READ COMMITTED';
  end if;
  perform pg_advisory_xact_lock(7206306);
end
$$;

-- Adds what was noted to the counts. Stops nobody. Returns how many changes it folded.
create function resident.fold_changes(most integer default 100000) returns integer
language plpgsql volatile security definer
set search_path = resident, pg_temp as $$
declare
  folded integer;
begin
  perform resident.begin_upkeep();
  with gone as (
    delete from resident.block_change
    where ctid = any (array(select ctid from resident.block_change limit most))
    returning block_id, difference
  ), sums as (
    select block_id, sum(difference) as difference, count(*) as changes from gone group by block_id
  ), counted as (
    update resident.block b set row_count = b.row_count + s.difference, version = b.version + 1
    from sums s where b.id = s.block_id
  )
  select coalesce(sum(changes), 0) into folded from sums;
  return folded;
end
$$;

-- Splits the biggest block, once it holds twice the target: the oldest rows go into new blocks, at most so many
-- at a time, as writers wait for the end (measured: some 15 ms for 16 blocks); readers never do. Returns how
-- many blocks were added. Fails with 55P03 after 3 s where a writer does not end; then the next run does it.
create function resident.split_block(target integer default 8192, most integer default 16) returns integer
language plpgsql volatile security definer
set search_path = resident, pg_temp
set lock_timeout = '3s'
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
declare
  big resident.block;
  rest integer;
  pieces integer;
  cut_created_at timestamp(6);
  cut_id bigint;
begin
  perform resident.begin_upkeep();
  select * into big from resident.block where row_count >= 2 * target order by row_count desc limit 1;
  if not found then
    return 0;
  end if;

  perform pg_advisory_xact_lock(7206307);
  update resident.block_layout set version = version + 1;
  with gone as (delete from resident.block_change where block_id = big.id returning difference)
  select big.row_count + coalesce(sum(difference), 0) into rest from gone;

  pieces := greatest(0, least(most, (rest - 1) / target));
  cut_created_at := big.low_created_at;
  cut_id := big.low_id;
  for piece in 1..pieces loop
    select created_at, id into strict cut_created_at, cut_id from resident.resident
    where (created_at, id) >= (cut_created_at, cut_id)
    order by created_at, id offset target limit 1;
    insert into resident.block (low_created_at, low_id, row_count)
    values (cut_created_at, cut_id, case when piece < pieces then target else rest - pieces * target end);
  end loop;
  update resident.block set version = version + 1,
    row_count = case when pieces > 0 then target else rest end
  where id = big.id;
  -- so that sessions plan anew: what they planned for few blocks must not stay
  analyze resident.block;
  return pieces;
end
$$;

-- Cuts everything anew. Writers wait meanwhile (some 10 s for ten million rows), readers do not.
create function resident.rebuild_blocks(target integer default 8192) returns void
language plpgsql volatile security definer
set search_path = resident, pg_temp as $$
begin
  perform resident.begin_upkeep();
  perform pg_advisory_xact_lock(7206307);
  update resident.block_layout set version = version + 1;
  delete from resident.block_change;
  delete from resident.block;
  with placed as (
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

-- The blocks with what their rows count in this very snapshot, newest first, each with the position before
-- which it ends, and the generation of its profile where that is valid. No search path of its own, so that a
-- query takes it in like a view.
create function resident.counted_blocks() returns table (
  id integer, low_created_at timestamp, low_id bigint, high_created_at timestamp, high_id bigint,
  row_count integer, version bigint, is_changed boolean, valid_generation integer
)
language sql stable
begin atomic
  select b.id, b.low_created_at, b.low_id,
    lag(b.low_created_at, 1, 'infinity'::timestamp) over newest,
    lag(b.low_id, 1, 9223372036854775807) over newest,
    b.row_count + coalesce(c.difference, 0),
    b.version, c.block_id is not null,
    case when b.profiled_version = b.version and c.block_id is null then b.profile_generation end
  from resident.block b
  left join (
    select block_id, sum(difference)::integer as difference from resident.block_change group by block_id
  ) c on c.block_id = b.id
  window newest as (order by b.low_created_at desc, b.low_id desc);
end;

-- The blocks whose count is wrong, of so many that are chosen at random, or of all. None ever is, unless the
-- triggers were bypassed.
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

-- The residents with these ids, masked and in this order.
create function resident.show(ids bigint[]) returns json
language sql stable
set search_path = resident, pg_temp
return coalesce((
  select json_agg(resident.mask(r) order by chosen.place)
  from unnest(ids) with ordinality chosen (id, place) join resident.resident r on r.id = chosen.id
), '[]');

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
    + coalesce((select sum(difference) from resident.block_change), 0);
  if skipped < page.total then
    select b.high_created_at, b.high_id, skipped - (b.up_to - b.row_count)
    into high_created_at, high_id, skipped
    from (
      select *, sum(row_count) over (order by low_created_at desc, low_id desc) as up_to
      from resident.counted_blocks()
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

select resident.rebuild_blocks();

-- ALWAYS: they run also where session_replication_role turns others off.
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

-- Longer names would not fit into an index row. Not looked at in the rows that are there: they did fit.
alter table resident.resident add constraint resident_name_length check (length(name) <= 500) not valid;
drop index resident.resident_newest;
alter index resident.resident_newest_name rename to resident_newest;

reset role;
