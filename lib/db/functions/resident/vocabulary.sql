-- Returns the frequent strings, with the number of residents when they were chosen and now.
create or replace function resident.read_vocabulary()
returns table (generation integer, chosen_for bigint, row_count bigint, terms json)
language sql stable security definer
set search_path = resident, pg_temp
begin atomic
  select v.generation, v.row_count, (select coalesce(sum(b.row_count), 0) from resident.counted_blocks() b),
    coalesce((select json_agg(f.term) from resident.frequent_term f), '[]')
  from resident.vocabulary v;
end;

-- Returns the folded names of this percentage of pages.
create or replace function resident.sample_names(percentage double precision) returns json
language sql volatile security definer
set search_path = resident, pg_temp
begin atomic
  select coalesce(json_agg(r.name_search), '[]') from resident.resident r tablesample system (percentage);
end;

-- Replaces the frequent strings. Profiles stay valid for strings that they counted before.
create or replace function resident.store_vocabulary(terms json, row_count bigint) returns void
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

grant execute on function resident.read_vocabulary, resident.sample_names, resident.store_vocabulary to
  municipal_maintenance, municipal_importer;
