-- Maintenance of substring counts and trigrams. Names are read from the database, and how many have each substring is stored. If a block
-- changes meanwhile, its version changes too, so that its counts are not valid.

-- Counts names whose stored form differs from this server's, as after an ICU upgrade: searches do not find them.
create or replace function resident.count_outdated_names() returns bigint
language sql stable security definer
set search_path = resident, pg_temp
begin atomic
  select count(*) from resident.resident where name_search <> left(resident.fold_name(name), 500);
end;

create or replace function resident.refresh_names() returns void
language plpgsql volatile security definer
set search_path = resident, pg_temp as $$
begin
  -- it is no import, and ends no corrections (correction.sql)
  perform set_config('resident.is_act', 'on', true);
  update resident.resident set name = name where name_search <> left(resident.fold_name(name), 500);
  perform set_config('resident.is_act', 'off', true);
end
$$;

-- Merges the pending entries of the trigram index. Returns the number of pages.
create or replace function resident.merge_trigrams() returns bigint
language sql volatile security definer
set search_path = resident, pg_temp
-- a string instead of BEGIN ATOMIC, so that the index can be recreated
as $$ select gin_clean_pending_list('resident.resident_name_trigrams') $$;

-- Lists blocks of one cluster without valid counts, newest first, as these are read most. Omits blocks with pending
-- changes and those that will be split.
create or replace function resident.list_stale_blocks(most integer) returns table (block_id integer)
language sql stable security definer
set search_path = resident, pg_temp
begin atomic
  with stale as (
    select b.id, b.low_created_at, b.low_id from resident.counted_blocks() b, resident.substring_generation v
    where b.valid_generation >= v.generation is not true and not b.is_changed
      and b.row_count < 4 * resident.block_target((select sum(row_count) from resident.block))
  )
  select id from stale
  where id / 128 = (select id / 128 from stale order by low_created_at desc, low_id desc limit 1)
  order by low_created_at desc, low_id desc limit most;
end;

-- Returns the folded names and the version of a block; no row if it has pending changes.
create or replace function resident.read_names(block_id integer) returns table (version bigint, names json)
language plpgsql stable security definer
set search_path = resident, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $$
begin
  return query
    select b.version, coalesce((
      select json_agg(r.name_search) from resident.resident r
      where (r.created_at, r.id) >= (b.low_created_at, b.low_id)
        and (r.created_at, r.id) < (b.high_created_at, b.high_id)
    ), '[]')
    from resident.counted_blocks() b where b.id = block_id and not b.is_changed;
end
$$;

create or replace function resident.with_counts(counts integer[], places integer[], fresh integer[]) returns integer[]
language plpgsql immutable as $$
begin
  for i in 1..cardinality(places) loop
    counts[places[i]] := coalesce(fresh[i], 0);
  end loop;
  return counts;
end
$$;

-- Stores the substring counts of blocks of one cluster. `blocks` contains [id, version] pairs; `terms` contains for each string
-- the number of names by block: {"siti": [12, 0, 7]}.
create or replace function resident.store_substring_counts(blocks json, generation integer, terms json) returns void
language plpgsql volatile security definer
set search_path = resident, pg_temp as $$
declare
  own_cluster constant integer := (blocks->0->>0)::integer / 128;
  places constant integer[] := array(
    select (b->>0)::integer % 128 + 1 from json_array_elements(blocks) with ordinality x (b, place) order by place);
begin
  perform resident.begin_upkeep();
  insert into resident.substring_count as stored (term, cluster, counts)
  select coalesce(s.term, k.term), own_cluster,
    resident.with_counts(coalesce(k.counts, array_fill(0, array[128])), places, s.counts)
  from (
    select key collate "C" as term, translate(value::text, '[]', '{}')::integer[] as counts from json_each(terms)
  ) s full join (
    select term, counts from resident.substring_count where cluster = own_cluster
  ) k on k.term = s.term
  on conflict (term, cluster) do update set counts = excluded.counts where stored.counts <> excluded.counts;

  update resident.block b
  set counted_version = (pair->>1)::bigint, counted_generation = store_substring_counts.generation
  from json_array_elements(blocks) pair
  where b.id = (pair->>0)::integer;
end
$$;

-- Returns a block's names, the longer strings that are counted, and the counts, from one snapshot. No row if the
-- counts are not valid.
create or replace function resident.read_substring_counts(block_id integer)
returns table (names json, terms json, counts json)
language plpgsql stable security definer
set search_path = resident, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $$
begin
  return query
    with known as materialized (
      select f.term from resident.frequent_substring f, resident.block b
      where b.id = block_id and f.generation <= b.counted_generation
    )
    select coalesce((
        select json_agg(r.name_search) from resident.resident r
        where (r.created_at, r.id) >= (b.low_created_at, b.low_id)
          and (r.created_at, r.id) < (b.high_created_at, b.high_id)
      ), '[]'),
      coalesce((select json_agg(k.term) from known k), '[]'),
      coalesce((
        select json_object_agg(p.term, p.counts[b.id % 128 + 1]) from resident.substring_count p
        where p.cluster = b.id / 128 and p.counts[b.id % 128 + 1] > 0
          and (length(p.term) <= 2 or p.term in (select k.term from known k))
      ), '{}')
    from resident.counted_blocks() b where b.id = block_id and b.valid_generation is not null;
end
$$;

create or replace function resident.choose_blocks(most integer) returns table (block_id integer)
language sql volatile security definer
set search_path = resident, pg_temp
begin atomic
  select b.id from resident.counted_blocks() b where b.valid_generation is not null order by random() limit most;
end;

create or replace function resident.read_status() returns table (
  residents bigint, blocks bigint, biggest_block integer, pending_changes bigint,
  uncounted_blocks bigint, frequent_substrings bigint, substring_bytes bigint
)
language sql stable security definer
set search_path = resident, pg_temp
begin atomic
  select sum(b.row_count), count(*), max(b.row_count),
    (select count(*) from resident.pending_change),
    count(*) filter (where b.valid_generation >= v.generation is not true),
    (select count(*) from resident.frequent_substring),
    pg_total_relation_size('resident.substring_count')
  from resident.counted_blocks() b, resident.substring_generation v;
end;

grant execute on function resident.list_stale_blocks, resident.read_names, resident.store_substring_counts to
  municipal_maintenance, municipal_importer;
grant execute on function resident.read_substring_counts, resident.read_status, resident.choose_blocks,
  resident.merge_trigrams, resident.count_outdated_names, resident.refresh_names to municipal_maintenance;
