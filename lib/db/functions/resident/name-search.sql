-- Finds the residents whose name contains a string, with the exact total. The string determines the method:
-- * Substring counts say how many names of a block contain a string: all strings of one or two letters (code points), and
--   frequent longer ones. A string in millions of names then costs one page.
-- * Trigrams (GIN) find rare strings.
-- * All others are counted live, block by block, by index-only scans.
-- The substring counts of a block are valid while it has the version that was counted, and no pending change.

create or replace function resident.like_pattern(term text) returns text
language sql immutable parallel safe
return '%' || replace(replace(replace(term, '\', '\\'), '%', '\%'), '_', '\_') || '%';

-- Whether the term has a trigram in any locale: three ASCII letters or digits in a row, or the beginning or end of a
-- word. Without one, a search would scan the whole trigram index.
create or replace function resident.has_trigram(term text) returns boolean
language sql immutable parallel safe
return term collate "C" ~ '[a-z0-9]{3}|[ -/:-@[-`{-~][a-z0-9]|[a-z0-9]{2}[ -/:-@[-`{-~]';

create or replace function resident.find_by_trigrams(term text, skipped bigint, page_size integer) returns resident.finding
language plpgsql stable
set search_path = resident, pg_temp
set plan_cache_mode = force_generic_plan
-- overestimated costs would cause JIT compilation, which takes longer than the query
set jit = off
-- otherwise the planner scans the whole order for a name without matches
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

-- The first four pairs of adjacent letters; a name without one of them does not contain the term.
create or replace function resident.first_grams(term text) returns text[]
language sql immutable parallel safe
return array(select distinct substr(term, place, 2) from generate_series(1, least(length(term) - 1, 4)) place);

-- Whether counting block by block reads less than the trigram index, for a term whose only trigrams are the beginnings and ends of
-- words. The index finds many names for "b s": all that have a word with S. The substring counts say how many names that are, and in
-- how many blocks both letters occur.
create or replace function resident.is_rare_in_blocks(term text) returns boolean
language plpgsql stable
set search_path = resident, pg_temp as $$
declare
  grams constant text[] := resident.first_grams(term);
  -- names of the trigram index that are read in the time of a block's
  block_rows constant integer := 2500;
  blocks bigint;
  rows bigint;
begin
  select count(*) into blocks
  from resident.counted_blocks() b left join (
    select p.cluster * 128 + u.place - 1 as id, count(*) as found
    from resident.substring_count p cross join unnest(p.counts) with ordinality u (count, place)
    where p.term = any (grams) and u.count > 0
    group by 1
  ) known using (id)
  where b.valid_generation >= 0 is not true or known.found = cardinality(grams);
  select coalesce(min(names), 0) into rows from (
    select sum(u.count) as names
    from unnest(grams) gram left join resident.substring_count p on p.term = gram left join unnest(p.counts) u (count) on true
    -- a letter before the end of a word is in no trigram without the one before it
    where gram !~ '[a-z0-9][^a-z0-9]'
    group by gram
  ) sums;
  return blocks * block_rows < rows;
end
$$;

-- Whether the trigram index finds a term sooner than a count block by block.
create or replace function resident.favours_trigrams(term text) returns boolean
language sql stable
return resident.has_trigram(term) and (term ~ '[a-z0-9]{3}' or not resident.is_rare_in_blocks(term));

-- Counts block by block. Skips blocks whose valid counts lack one of the grams. If the term is the only gram, the
-- count is stored; all other blocks are counted live.
create or replace function resident.find_by_blocks(
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
    from resident.substring_count p cross join unnest(p.counts) with ordinality u (count, place)
    where p.term = any (grams)
    group by 1
  ), candidate as materialized (
    select b.*, case when b.valid_generation >= generation then coalesce(k.matches, 0) end as known
    from resident.counted_blocks() b left join known k on k.block_id = b.id
  ), counted as materialized (
    select *, case when known = 0 or (is_exact and known is not null) then known else (
      select count(*) from resident.resident r
      where (r.created_at, r.id) >= (candidate.low_created_at, candidate.low_id)
        and (r.created_at, r.id) < (candidate.high_created_at, candidate.high_id)
        and r.name_search like pattern
    ) end::integer as matches
    from candidate
  ), placed as (
    select *, sum(matches) over (order by low_created_at desc, low_id desc) as up_to from counted
  )
  select coalesce(max(up_to), 0), array_agg(
      row(high_created_at, high_id, low_created_at, low_id, up_to - matches, matches)::resident.stretch
      order by up_to
    ) filter (where matches > 0 and up_to > skipped and up_to - matches < skipped + page_size)
  into finding.total, stretches
  from placed;

  -- trigrams are faster if the matches of the page are spread over many blocks
  if cardinality(stretches) > 2 and finding.total < cardinality(stretches) * 250 and resident.favours_trigrams(term) then
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

create or replace function resident.find_by_name(term text, skipped bigint, page_size integer) returns resident.finding
language plpgsql stable
set search_path = resident, pg_temp
as $$
declare
  -- more live counts take longer than a search by trigrams
  most_live constant integer := 32;
  since integer := 0;
begin
  if length(term) > 2 then
    since := (select f.generation from resident.frequent_substring f where f.term = find_by_name.term);
    if (since is null or (
      select count(*) from resident.counted_blocks() where valid_generation >= since is not true) > most_live)
      and resident.favours_trigrams(term)
    then
      return resident.find_by_trigrams(term, skipped, page_size);
    end if;
  end if;
  return resident.find_by_blocks(term,
    case when since is null then resident.first_grams(term) else array[term] end, coalesce(since, 0), skipped, page_size);
end
$$;
