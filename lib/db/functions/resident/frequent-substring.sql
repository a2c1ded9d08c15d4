-- Returns the frequent strings, with the number of residents when they were chosen and now.
create or replace function resident.read_frequent_substrings()
returns table (generation integer, chosen_for bigint, row_count bigint, terms json)
language sql stable security definer
set search_path = resident, pg_temp
begin atomic
  select v.generation, v.row_count, (select coalesce(sum(b.row_count), 0) from resident.counted_blocks() b),
    coalesce((select json_agg(f.term) from resident.frequent_substring f), '[]')
  from resident.substring_generation v;
end;

-- Returns the folded names of this percentage of pages.
create or replace function resident.sample_names(percentage double precision) returns json
language sql volatile security definer
set search_path = resident, pg_temp
begin atomic
  select coalesce(json_agg(r.name_search), '[]') from resident.resident r tablesample system (percentage);
end;

-- Replaces the frequent strings. Blocks keep the counts of strings that were counted before.
create or replace function resident.store_frequent_substrings(terms json, row_count bigint) returns void
language plpgsql volatile security definer
set search_path = resident, pg_temp as $$
declare
  current_generation integer;
begin
  perform resident.begin_upkeep();
  update resident.substring_generation v set generation = v.generation + 1, row_count = store_frequent_substrings.row_count
  returning generation into current_generation;
  insert into resident.frequent_substring (term, generation)
  select value, current_generation from json_array_elements_text(terms)
  on conflict do nothing;
  delete from resident.frequent_substring
  where term not in (select value collate "C" from json_array_elements_text(terms));
  delete from resident.substring_count p
  where length(term) > 2 and not exists (select from resident.frequent_substring f where f.term = p.term);
  delete from resident.substring_count where cluster not in (select id / 128 from resident.block);
end
$$;

grant execute on function resident.read_frequent_substrings, resident.sample_names, resident.store_frequent_substrings to
  municipal_maintenance, municipal_importer;
