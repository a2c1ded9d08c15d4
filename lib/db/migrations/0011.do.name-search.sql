-- Any part of any name with its exact total.
--
-- Three ways, each right by itself, chosen by what the part is:
-- * Profiles tell for each block how many of its names contain a string: every string of one or two letters
--   (code points), and each frequent longer one. With them a name part that millions have costs a page.
-- * Trigrams (GIN) find what few names contain.
-- * What neither knows is counted live, block by block, in the index of the order.
-- A profile counts the same strings of the same column as LIKE finds: code points of lower-cased names, as
-- stored. It is valid while its block has the version that was profiled and no pending change.
--
-- pg_trgm is a trusted extension: the database's owner may create it. In a schema of its own, as its functions
-- are executable by everybody who may enter theirs.
create schema extension;
create extension pg_trgm with schema extension;
grant usage on schema extension to municipal_owner;

set role municipal_owner;

-- Entries wait in a list that each search reads whole, so it stays short, and are merged in bulk.
create index resident_name_trigrams on resident.resident using gin (name_search extension.gin_trgm_ops);

-- The longer strings that profiles count besides those of one and two letters.
create table resident.frequent_term (
  term text collate "C" primary key,
  -- profiles from this generation on count it
  generation integer not null
);

create table resident.vocabulary (
  is_only boolean primary key default true check (is_only),
  generation integer not null,
  -- residents at the time it was chosen
  row_count bigint not null
);
insert into resident.vocabulary (generation, row_count) values (0, 0);

-- How many names of a block contain a string, for 128 blocks in a row: block n is at place n % 128 + 1 of
-- cluster n / 128. No row: none of the cluster's blocks has such a name.
create table resident.name_profile (
  term text collate "C" not null,
  cluster integer not null,
  counts integer[] not null check (cardinality(counts) = 128),
  primary key (term, cluster)
) with (fillfactor = 70);
create index name_profile_cluster on resident.name_profile (cluster);

create type resident.finding as (total bigint, ids bigint[]);

-- A part of a block: where it is, and which of all matches it holds (from `above` on, `matches` of them).
create type resident.stretch as (
  high_created_at timestamp(6), high_id bigint, low_created_at timestamp(6), low_id bigint,
  above bigint, matches integer
);

create function resident.like_pattern(term text) returns text
language sql immutable parallel safe
return '%' || replace(replace(replace(term, '\', '\\'), '%', '\%'), '_', '\_') || '%';

-- Whether a trigram can be taken from the term in any locale: three ASCII letters or digits in a row, or the
-- beginning or end of a word. Without one, the trigram index would be read whole.
create function resident.has_trigram(term text) returns boolean
language sql immutable parallel safe
return term collate "C" ~ '[a-z0-9]{3}|[ -/:-@[-`{-~][a-z0-9]|[a-z0-9]{2}[ -/:-@[-`{-~]';

create function resident.find_by_trigrams(term text, skipped bigint, page_size integer) returns resident.finding
language plpgsql stable
set search_path = resident, pg_temp
set plan_cache_mode = force_generic_plan
-- its estimates are far too high: compiling would cost more than all the rest
set jit = off
-- left alone, the planner walks the whole order for a name that nobody has
set enable_seqscan = off
set enable_indexscan = off
set enable_indexonlyscan = off
set work_mem = '32MB'
as $$
declare
  pattern text := resident.like_pattern(term);
  finding resident.finding;
begin
  with matching as materialized (
    select id, created_at from resident.resident where name_search like pattern
  )
  select (select count(*) from matching), array(
    select id from matching order by created_at desc, id desc offset skipped limit page_size)
  into finding;
  return finding;
end
$$;

-- Counts block by block. Where a valid profile of the grams shows that a block has none, it is passed by; where
-- the only gram is the term itself, the profile is the count; all else is counted live.
create function resident.find_by_blocks(
  term text, grams text[], generation integer, skipped bigint, page_size integer
) returns resident.finding
language plpgsql stable
set search_path = resident, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  pattern text := resident.like_pattern(term);
  is_exact boolean := grams = array[term];
  finding resident.finding;
  stretches resident.stretch[];
  stretch resident.stretch;
begin
  with known as (
    select p.cluster * 128 + u.place - 1 as block_id,
      case when count(*) = cardinality(grams) then min(u.count) else 0 end as matches
    from resident.name_profile p cross join unnest(p.counts) with ordinality u (count, place)
    where p.term = any (grams)
    group by 1
  ), profiled as materialized (
    select b.*, case when b.valid_generation >= generation then coalesce(k.matches, 0) end as known
    from resident.counted_blocks() b left join known k on k.block_id = b.id
  ), counted as materialized (
    select *, case when known = 0 or (is_exact and known is not null) then known else (
      select count(*) from resident.resident r
      where (r.created_at, r.id) >= (profiled.low_created_at, profiled.low_id)
        and (r.created_at, r.id) < (profiled.high_created_at, profiled.high_id)
        and r.name_search like pattern
    ) end::integer as matches
    from profiled
  ), placed as (
    select *, sum(matches) over (order by low_created_at desc, low_id desc) as up_to from counted
  )
  select coalesce(max(up_to), 0), array_agg(
      row(high_created_at, high_id, low_created_at, low_id, up_to - matches, matches)::resident.stretch
      order by up_to
    ) filter (where matches > 0 and up_to > skipped and up_to - matches < skipped + page_size)
  into finding.total, stretches
  from placed;

  -- matches so far apart that each is in a block of its own are found sooner by their trigrams
  if cardinality(stretches) > 2 and finding.total < cardinality(stretches) * 250 and resident.has_trigram(term) then
    return resident.find_by_trigrams(term, skipped, page_size);
  end if;
  foreach stretch in array coalesce(stretches, '{}') loop
    finding.ids := finding.ids || array(
      select id from resident.resident r
      where (r.created_at, r.id) >= (stretch.low_created_at, stretch.low_id)
        and (r.created_at, r.id) < (stretch.high_created_at, stretch.high_id)
        and r.name_search like pattern
      order by r.created_at desc, r.id desc
      offset greatest(skipped - stretch.above, 0)
      limit page_size - coalesce(cardinality(finding.ids), 0));
  end loop;
  return finding;
end
$$;

-- The first four pairs of letters that follow each other; what lacks one of them lacks the term.
create function resident.first_grams(term text) returns text[]
language sql immutable parallel safe
return array(select distinct substr(term, place, 2) from generate_series(1, least(length(term) - 1, 4)) place);

create function resident.find_by_name(term text, skipped bigint, page_size integer) returns resident.finding
language plpgsql stable
set search_path = resident, pg_temp
as $$
declare
  -- many live counts cost more than any search by trigrams
  most_live constant integer := 32;
  since integer := 0;
begin
  if length(term) > 2 then
    since := (select f.generation from resident.frequent_term f where f.term = find_by_name.term);
    if resident.has_trigram(term) and (since is null or (
      select count(*) from resident.counted_blocks() where valid_generation >= since is not true) > most_live)
    then
      return resident.find_by_trigrams(term, skipped, page_size);
    end if;
  end if;
  return resident.find_by_blocks(term,
    case when since is null then resident.first_grams(term) else array[term] end, coalesce(since, 0), skipped, page_size);
end
$$;

create or replace function resident.read_search(
  nik_equals text, name_part text, page_number bigint, page_size integer
) returns resident.page
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
  term text := lower(name_part collate "und-x-icu") collate "C";
  finding resident.finding;
begin
  if nik_equals is null then
    finding := resident.find_by_name(term, skipped, page_size);
  else
    finding.ids := array(
      select id from resident.resident
      where nik = nik_equals and (term is null or strpos(name_search, term) > 0));
    finding.total := cardinality(finding.ids);
    if skipped > 0 then
      finding.ids := '{}';
    end if;
  end if;
  page.total := finding.total;
  page.residents := resident.show(finding.ids);
  return page;
end
$$;

-- Merges the entries that wait in the trigram index, which every search by trigrams reads. Returns how many pages.
create function resident.merge_trigrams() returns bigint
language sql volatile security definer
set search_path = resident, pg_temp
-- in quotes, so that the index may be dropped and made again
as $$ select gin_clean_pending_list('resident.resident_name_trigrams') $$;

-- Upkeep of profiles: a builder reads the names of a block, counts, and stores. Should something have changed
-- meanwhile, the block's version has too, and what was stored is not valid.

-- Blocks of one cluster whose profile is not valid, and may be made now: nothing is pending, and it is not to be
-- split. The newest first, as they are read most.
create function resident.list_stale_blocks(most integer) returns table (block_id integer)
language sql stable security definer
set search_path = resident, pg_temp
begin atomic
  with stale as (
    select b.id, b.low_created_at, b.low_id from resident.counted_blocks() b, resident.vocabulary v
    where b.valid_generation >= v.generation is not true and not b.is_changed and b.row_count < 32768
  )
  select id from stale
  where id / 128 = (select id / 128 from stale order by low_created_at desc, low_id desc limit 1)
  order by low_created_at desc, low_id desc limit most;
end;

-- The lower-cased names of a block that has no pending change, with its version. No row: it has one now.
create function resident.read_names(block_id integer) returns table (version bigint, names json)
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

create function resident.with_counts(counts integer[], places integer[], fresh integer[]) returns integer[]
language plpgsql immutable as $$
begin
  for i in 1..cardinality(places) loop
    counts[places[i]] := coalesce(fresh[i], 0);
  end loop;
  return counts;
end
$$;

-- Stores the profiles of blocks of one cluster. `blocks` are [id, version] pairs; `terms` has for each string
-- that a name of them contains how many contain it, block by block: {"siti": [12, 0, 7]}.
create function resident.store_profiles(blocks json, generation integer, terms json) returns void
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

-- The frequent strings, for how many residents they were chosen, and how many there are now.
create function resident.read_vocabulary()
returns table (generation integer, chosen_for bigint, row_count bigint, terms json)
language sql stable security definer
set search_path = resident, pg_temp
begin atomic
  select v.generation, v.row_count, (select coalesce(sum(b.row_count), 0) from resident.counted_blocks() b),
    coalesce((select json_agg(f.term) from resident.frequent_term f), '[]')
  from resident.vocabulary v;
end;

-- The lower-cased names on pages that are taken at random, such a share of all.
create function resident.sample_names(percentage double precision) returns json
language sql volatile security definer
set search_path = resident, pg_temp
begin atomic
  select coalesce(json_agg(r.name_search), '[]') from resident.resident r tablesample system (percentage);
end;

-- Replaces the frequent strings. Profiles stay valid for those that they counted before.
create function resident.store_vocabulary(terms json, row_count bigint) returns void
language plpgsql volatile security definer
set search_path = resident, pg_temp as $$
declare
  current_generation integer;
begin
  perform resident.begin_upkeep();
  update resident.vocabulary v set generation = v.generation + 1, row_count = store_vocabulary.row_count
  returning generation into current_generation;
  insert into resident.frequent_term (term, generation)
  select value, current_generation from json_array_elements_text(terms)
  on conflict do nothing;
  delete from resident.frequent_term
  where term not in (select value collate "C" from json_array_elements_text(terms));
  delete from resident.name_profile p
  where length(term) > 2 and not exists (select from resident.frequent_term f where f.term = p.term);
  delete from resident.name_profile where cluster not in (select id / 128 from resident.block);
end
$$;


-- A block that has a valid profile: its names, the longer strings that it counts, and what it counted. One
-- snapshot, for comparing them. No row: it has none.
create function resident.read_profile(block_id integer)
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

-- How things stand, for the operator.
create function resident.read_status() returns table (
  residents bigint, blocks bigint, biggest_block integer, pending_changes bigint,
  stale_profiles bigint, frequent_terms bigint, profile_bytes bigint
)
language sql stable security definer
set search_path = resident, pg_temp
begin atomic
  select sum(b.row_count), count(*), max(b.row_count),
    (select count(*) from resident.block_change),
    count(*) filter (where b.valid_generation >= v.generation is not true),
    (select count(*) from resident.frequent_term),
    pg_total_relation_size('resident.name_profile')
  from resident.counted_blocks() b, resident.vocabulary v;
end;

create function resident.choose_blocks(most integer) returns table (block_id integer)
language sql volatile security definer
set search_path = resident, pg_temp
begin atomic
  select b.id from resident.counted_blocks() b where b.valid_generation is not null order by random() limit most;
end;

grant usage on schema resident to municipal_maintenance;
grant execute on function resident.fold_changes, resident.split_block, resident.rebuild_blocks, resident.recount,
  resident.list_stale_blocks, resident.read_names, resident.store_profiles, resident.read_vocabulary,
  resident.sample_names, resident.store_vocabulary, resident.read_profile, resident.read_status,
  resident.choose_blocks, resident.merge_trigrams
to municipal_maintenance;

reset role;
