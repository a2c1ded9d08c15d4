-- Maintenance of profiles and trigrams. Names are read from the database, counted, and stored as profiles. If a block
-- changes meanwhile, its version changes too, so that the profile is not valid.

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
  -- it is no import, and ends no corrections (resident-subject)
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

-- Lists blocks of one cluster without a valid profile, newest first, as these are read most. Omits blocks with pending
-- changes and those that will be split.
create or replace function resident.list_stale_blocks(most integer) returns table (block_id integer)
language sql stable security definer
set search_path = resident, pg_temp
begin atomic
  with stale as (
    select b.id, b.low_created_at, b.low_id from resident.counted_blocks() b, resident.vocabulary v
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

-- Stores the profiles of blocks of one cluster. `blocks` contains [id, version] pairs; `terms` contains for each string
-- the number of names by block: {"siti": [12, 0, 7]}.
create or replace function resident.store_profiles(blocks json, generation integer, terms json) returns void
language plpgsql volatile security definer
set search_path = resident, pg_temp as $$
declare
  own_cluster constant integer := (blocks->0->>0)::integer / 128;
  places constant integer[] := array(
    select (b->>0)::integer % 128 + 1 from json_array_elements(blocks) with ordinality x (b, place) order by place);
begin
  perform resident.begin_upkeep();
  insert into resident.name_profile as stored (term, cluster, counts)
  select coalesce(s.term, k.term), own_cluster,
    resident.with_counts(coalesce(k.counts, array_fill(0, array[128])), places, s.counts)
  from (
    select key collate "C" as term, translate(value::text, '[]', '{}')::integer[] as counts from json_each(terms)
  ) s full join (
    select term, counts from resident.name_profile where cluster = own_cluster
  ) k on k.term = s.term
  on conflict (term, cluster) do update set counts = excluded.counts where stored.counts <> excluded.counts;

  update resident.block b
  set profiled_version = (pair->>1)::bigint, profile_generation = store_profiles.generation
  from json_array_elements(blocks) pair
  where b.id = (pair->>0)::integer;
end
$$;

-- Returns a block's names, the longer strings that its profile counts, and the counts, from one snapshot. No row if the
-- profile is not valid.
create or replace function resident.read_profile(block_id integer)
returns table (names json, terms json, counts json)
language plpgsql stable security definer
set search_path = resident, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $$
begin
  return query
    with known as materialized (
      select f.term from resident.frequent_term f, resident.block b
      where b.id = block_id and f.generation <= b.profile_generation
    )
    select coalesce((
        select json_agg(r.name_search) from resident.resident r
        where (r.created_at, r.id) >= (b.low_created_at, b.low_id)
          and (r.created_at, r.id) < (b.high_created_at, b.high_id)
      ), '[]'),
      coalesce((select json_agg(k.term) from known k), '[]'),
      coalesce((
        select json_object_agg(p.term, p.counts[b.id % 128 + 1]) from resident.name_profile p
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

grant execute on function resident.list_stale_blocks, resident.read_names, resident.store_profiles to
  municipal_maintenance, municipal_importer;
grant execute on function resident.read_profile, resident.read_status, resident.choose_blocks,
  resident.merge_trigrams, resident.count_outdated_names, resident.refresh_names to municipal_maintenance;
