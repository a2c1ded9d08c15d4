-- Finds the residents whose name contains a string, with the exact total.
--
-- There are three ways, each right on its own; the string decides which is taken:
-- * Profiles say how many names of a block contain a string: every string of one or two letters (code points), and
--   each frequent longer one. With them, a string that millions of names contain costs one page.
-- * Trigrams (GIN) find strings that few names contain.
-- * Everything else is counted live, block by block, in the index of the order.
-- A profile counts by the same column and the same code points as LIKE. It is valid while its block has the version
-- that was profiled and no pending note.
--
-- pg_trgm is a trusted extension: the database's owner may create it. It has its own schema, as everybody who may
-- use a schema may execute the extension's functions in it.
create schema extension;
create extension pg_trgm with schema extension;
grant usage on schema extension to municipal_owner;

set role municipal_owner;

-- New entries wait in a list that each search reads whole, so upkeep merges it often.
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
-- beginning or end of a word. Without one, a search would read the whole trigram index.
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

-- Counts block by block. A block is skipped if its valid profile shows that it lacks one of the grams; if the term
-- is the only gram, the profile has the count; everything else is counted live.
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

-- The first four pairs of adjacent letters; a name that lacks one of them lacks the term.
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

reset role;
