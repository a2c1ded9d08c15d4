-- Residents who are withheld from every read: on request, or because they have left the register.

-- What the register last had for a withheld resident, and what an import states now: a blank value is a new row without the
-- value, which says nothing, unless the import lets blank cells clear.
create or replace function resident.with_import(withheld resident.withheld_resident, imported resident.resident)
returns resident.resident
language sql stable
set search_path = resident, pg_temp
begin atomic
  select jsonb_populate_record(null::resident.resident, (withheld).record
    || coalesce((select jsonb_object_agg(column_name, replaced) from resident.correction where resident_id = (withheld).id), '{}')
    || coalesce((select jsonb_object_agg(key, value) from jsonb_each(to_jsonb(imported))
      where value <> '""' or current_setting('resident.blank_clears', true) = 'on'), '{}')
    || jsonb_build_object('id', (withheld).id, 'created_at', (withheld).record -> 'created_at'));
end;

-- Stores the values of a resident, by id, in the table that has the resident.
create or replace function resident.store_subject(fresh resident.resident) returns void
language sql volatile
set search_path = resident, pg_temp
begin atomic
  update resident.resident
  set family_card_number = (fresh).family_card_number, name = (fresh).name, mother_name = (fresh).mother_name,
    address = (fresh).address, hamlet = (fresh).hamlet, village = (fresh).village, district = (fresh).district,
    city = (fresh).city
  where id = (fresh).id;
  update resident.withheld_resident set record = to_jsonb(fresh) where id = (fresh).id;
end;

-- Withholds residents. Returns how many.
create or replace function resident.withhold(resident_ids bigint[], have_left boolean) returns bigint
language sql volatile
set search_path = resident, pg_temp
begin atomic
  with gone as (
    delete from resident.resident where id = any(resident_ids) returning *
  ), kept as (
    insert into resident.withheld_resident (id, nik, record, has_left)
    select id, nik, to_jsonb(gone), have_left from gone returning 1
  )
  select count(*) from kept;
end;

-- Shows a withheld resident again, with the same id.
create or replace function resident.release(resident_id bigint) returns void
language sql volatile
set search_path = resident, pg_temp
begin atomic
  with gone as (
    delete from resident.withheld_resident where id = resident_id returning record
  )
  insert into resident.record overriding system value
  select shown.* from gone cross join lateral jsonb_populate_record(null::resident.record, gone.record) shown;
end;

-- Marks residents as left, by number, whom the register no longer has. Returns how many.
create or replace function resident.mark_left(numbers text[]) returns integer
language plpgsql volatile security definer
set search_path = resident, pg_temp as $$
begin
  update resident.restriction set version = version + 1;
  return resident.withhold(array(
    select id from resident.resident where nik = any(numbers) order by nik for update), true);
end
$$;

-- Keeps residents restricted when an import adds them again: the values go to their withheld rows. Those who had left come
-- back, with the same id. A trigger before each row would make COPY insert rows one by one.
create or replace function resident.keep_withheld() returns trigger
language plpgsql volatile security definer
set search_path = resident, pg_temp as $$
declare
  imported resident.resident;
begin
  -- those whom this function shows; to look for each of them among all withheld ones takes minutes when many come back
  if pg_trigger_depth() > 1 then
    return null;
  end if;
  -- an older snapshot does not show whom somebody has withheld since: 40001, and clients retry
  if current_setting('transaction_isolation') <> 'read committed' then
    perform from resident.restriction for share;
  end if;
  if not exists (select from resident.withheld_resident) then
    return null;
  end if;
  for imported in
    with kept as (
      select r as withheld, r.nik from resident.withheld_resident r join new_rows n on n.nik = r.nik
      for update of r
    ), gone as (
      delete from resident.resident r using kept where r.nik = kept.nik returning r as given, kept.withheld
    )
    select (resident.with_import(withheld, given)).* from gone
  loop
    perform resident.release(id) from resident.withheld_resident where id = imported.id and has_left;
    perform resident.store_subject(resident.with_corrections(imported));
    perform resident.end_corrections(imported);
  end loop;
  return null;
end
$$;

-- An import adds a number and then waits for its withheld row; who shows that resident again has the row, and waits for the
-- number. So that neither waits for the other, they run one after another.
create or replace function resident.await_lift() returns trigger
language plpgsql volatile
set search_path = resident, pg_temp as $$
begin
  perform pg_advisory_xact_lock_shared(7206316 /* liftedRestriction */);
  return null;
end
$$;

create or replace trigger await_lift before insert on resident.resident
for each statement execute function resident.await_lift();
create or replace trigger keep_withheld after insert on resident.resident
referencing new table as new_rows for each statement execute function resident.keep_withheld();
alter table resident.resident enable always trigger await_lift;
alter table resident.resident enable always trigger keep_withheld;

-- Starts an import: returns the HMACs of the numbers that it must reject. Until the session ends, no resident can be erased:
-- the import could add them again.
create or replace function resident.begin_import() returns table (nik_digest text, pepper_version integer)
language plpgsql volatile security definer
set search_path = resident, pg_temp as $$
begin
  perform pg_advisory_lock_shared(7206313 /* residentImport */);
  return query select encode(e.nik_digest, 'hex'), e.pepper_version from resident.erased_resident e
    where e.lifted_at is null;
end
$$;

grant execute on function resident.begin_import, resident.mark_left to municipal_importer;
