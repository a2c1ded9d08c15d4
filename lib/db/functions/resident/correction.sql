-- Restores the corrected values where an import has those that they replaced.
create or replace function resident.with_corrections(imported resident.resident) returns resident.resident
language sql stable
set search_path = resident, pg_temp
begin atomic
  select jsonb_populate_record(imported, coalesce(jsonb_object_agg(c.column_name, c.corrected), '{}'))
  from resident.correction c
  where c.resident_id = (imported).id and to_jsonb(imported) ->> c.column_name = c.replaced;
end;

-- Ends the corrections of a resident for which an import has another value.
create or replace function resident.end_corrections(imported resident.resident) returns void
language sql volatile
set search_path = resident, pg_temp
begin atomic
  delete from resident.correction c
  where c.resident_id = (imported).id and to_jsonb(imported) ->> c.column_name <> c.replaced;
end;

-- Keeps corrections when an import updates residents.
create or replace function resident.keep_corrections() returns trigger
language plpgsql volatile security definer
set search_path = resident, pg_temp as $$
declare
  imported resident.resident;
begin
  -- corrections, and what this function stores, are not imports
  if pg_trigger_depth() > 1 or current_setting('resident.is_act', true) = 'on'
    or not exists (select from resident.correction)
  then
    return null;
  end if;
  for imported in
    select * from new_rows n where exists (select from resident.correction c where c.resident_id = n.id)
  loop
    perform resident.store_subject(resident.with_corrections(imported));
    perform resident.end_corrections(imported);
  end loop;
  return null;
end
$$;
create or replace trigger keep_corrections after update on resident.resident
referencing new table as new_rows for each statement execute function resident.keep_corrections();
alter table resident.resident enable always trigger keep_corrections;
