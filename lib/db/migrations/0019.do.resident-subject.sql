-- A citizen's rights of access, correction, restriction and erasure. Each act is one transaction and adds a row to the audit
-- of reads, so that it is sealed and anchored like any read.
--
-- Withheld and erased residents leave resident.resident, so that lists, searches, verifications and counts need no condition.
set role municipal_owner;

-- Residents who asked to be restricted, and those who have left the register, with their ids; no function of the gateway
-- reads them.
create table resident.withheld_resident (like resident.resident including constraints);
alter table resident.withheld_resident
  drop column name_search,
  add column withheld_at timestamptz not null default now(),
  -- an import that has the resident again shows them again
  add column has_left boolean not null default false,
  add primary key (id),
  add unique (nik);

-- Increases with every resident who is withheld, so that an import whose snapshot is older fails.
create table resident.restriction (
  is_only boolean primary key default true check (is_only),
  version bigint not null
);
insert into resident.restriction (version) values (0);

-- Of a resident who was erased, the id, which the audit has, and an HMAC of the number, by which an import is refused.
create table resident.erased_resident (
  id bigint primary key,
  nik_digest bytea not null check (octet_length(nik_digest) = 32),
  pepper_version integer not null,
  erased_at timestamptz not null default now(),
  erased_by audit.reference not null,
  reason audit.reference not null,
  -- from when imports may add the resident again, with another id
  lifted_at timestamptz
);
create unique index erased_resident_by_number on resident.erased_resident (nik_digest) where lifted_at is null;
create index erased_resident_of_number on resident.erased_resident (nik_digest);

-- A value that was corrected here, and that which the register had. An import that still brings the register's changes
-- nothing; any other value is newer than the correction, and ends it, also the corrected one: should the register return to
-- the value from before, that is a change.
create table resident.correction (
  resident_id bigint not null,
  column_name text not null check (column_name in
    ('family_card_number', 'name', 'mother_name', 'address', 'hamlet', 'village', 'district', 'city')),
  replaced text not null,
  corrected text not null check (corrected <> replaced),
  corrected_at timestamptz not null default now(),
  primary key (resident_id, column_name)
);

-- Restores the corrected values where an import has those that they replaced.
create function resident.with_corrections(imported resident.resident) returns resident.resident
language sql stable
set search_path = resident, pg_temp
begin atomic
  select jsonb_populate_record(imported, coalesce(jsonb_object_agg(c.column_name, c.corrected), '{}'))
  from resident.correction c
  where c.resident_id = (imported).id and to_jsonb(imported) ->> c.column_name = c.replaced;
end;

-- Ends the corrections of a resident for which an import has another value.
create function resident.end_corrections(imported resident.resident) returns void
language sql volatile
set search_path = resident, pg_temp
begin atomic
  delete from resident.correction c
  where c.resident_id = (imported).id and to_jsonb(imported) ->> c.column_name <> c.replaced;
end;

-- What the register last had for a withheld resident, and what an import states now: a blank value is a new row without the
-- value, which says nothing, unless the import lets blank cells clear.
create function resident.with_import(withheld resident.withheld_resident, imported resident.resident)
returns resident.resident
language sql stable
set search_path = resident, pg_temp
begin atomic
  select jsonb_populate_record(null::resident.resident, to_jsonb(withheld)
    || coalesce((select jsonb_object_agg(column_name, replaced) from resident.correction where resident_id = (withheld).id), '{}')
    || coalesce((select jsonb_object_agg(key, value) from jsonb_each(to_jsonb(imported))
      where value <> '""' or current_setting('resident.blank_clears', true) = 'on'), '{}')
    || jsonb_build_object('id', (withheld).id, 'created_at', (withheld).created_at));
end;

-- Stores the values of a resident, by id, in the table that has the resident.
create function resident.store_subject(fresh resident.resident) returns void
language sql volatile
set search_path = resident, pg_temp
begin atomic
  update resident.resident r
  set family_card_number = (fresh).family_card_number, name = (fresh).name, mother_name = (fresh).mother_name,
    address = (fresh).address, hamlet = (fresh).hamlet, village = (fresh).village, district = (fresh).district,
    city = (fresh).city
  where r.id = (fresh).id;
  update resident.withheld_resident r
  set family_card_number = (fresh).family_card_number, name = (fresh).name, mother_name = (fresh).mother_name,
    address = (fresh).address, hamlet = (fresh).hamlet, village = (fresh).village, district = (fresh).district,
    city = (fresh).city
  where r.id = (fresh).id;
end;

-- Withholds residents from every read. Returns how many.
create function resident.withhold(numbers bigint[], are_gone boolean) returns bigint
language sql volatile
set search_path = resident, pg_temp
begin atomic
  with gone as (
    delete from resident.resident where id = any(numbers) returning *
  ), kept as (
    insert into resident.withheld_resident (id, nik, family_card_number, name, mother_name, address, hamlet, village, district,
      city, created_at, has_left)
    select id, nik, family_card_number, name, mother_name, address, hamlet, village, district, city, created_at, are_gone
    from gone
    returning 1
  )
  select count(*) from kept;
end;

-- Shows a withheld resident again, with the same id.
create function resident.release(number bigint) returns void
language sql volatile
set search_path = resident, pg_temp
begin atomic
  with gone as (
    delete from resident.withheld_resident where id = number returning *
  )
  insert into resident.resident (id, nik, family_card_number, name, mother_name, address, hamlet, village, district, city,
    created_at) overriding system value
  select id, nik, family_card_number, name, mother_name, address, hamlet, village, district, city, created_at from gone;
end;

-- Marks residents as left, by number, whom the register no longer has. Returns how many.
create function resident.mark_left(numbers text[]) returns integer
language plpgsql volatile security definer
set search_path = resident, pg_temp as $$
begin
  update resident.restriction set version = version + 1;
  return resident.withhold(array(
    select id from resident.resident where nik = any(numbers) order by nik for update), true);
end
$$;

-- Keeps corrections when an import updates residents.
create function resident.keep_corrections() returns trigger
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

-- Keeps residents restricted when an import adds them again: the values go to their withheld rows. Those who had left come
-- back, with the same id. A trigger before each row would make COPY insert rows one by one.
create function resident.keep_withheld() returns trigger
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
create function resident.await_lift() returns trigger
language plpgsql volatile
set search_path = resident, pg_temp as $$
begin
  perform pg_advisory_xact_lock_shared(7206316);
  return null;
end
$$;

create trigger await_lift before insert on resident.resident
for each statement execute function resident.await_lift();
create trigger keep_corrections after update on resident.resident
referencing new table as new_rows for each statement execute function resident.keep_corrections();
create trigger keep_withheld after insert on resident.resident
referencing new table as new_rows for each statement execute function resident.keep_withheld();
alter table resident.resident enable always trigger await_lift;
alter table resident.resident enable always trigger keep_corrections;
alter table resident.resident enable always trigger keep_withheld;

-- Starts an import: returns the HMACs of the numbers that it must reject. Until the session ends, no resident can be erased:
-- the import could add them again.
create function resident.begin_import() returns table (nik_digest text, pepper_version integer)
language plpgsql volatile security definer
set search_path = resident, pg_temp as $$
begin
  perform pg_advisory_lock_shared(7206313);
  return query select encode(e.nik_digest, 'hex'), e.pepper_version from resident.erased_resident e
    where e.lifted_at is null;
end
$$;

-- The resident that an act is about; the state is stored, restricted, left, erased or unknown.
create type resident.subject as (state text, resident resident.resident, since timestamptz);

-- Fails if somebody was erased with a pepper of another version: their numbers cannot be recognized.
create function resident.check_pepper(version integer) returns void
language plpgsql stable
set search_path = resident, pg_temp as $$
begin
  if exists (select from resident.erased_resident where lifted_at is null and pepper_version <> version) then
    raise exception using errcode = 'MI450', message = 'residents were erased with another pepper';
  end if;
end
$$;

-- Finds the subject of an act. Acts on one number run one after another.
create function resident.find_subject(number text, digest bytea, version integer) returns resident.subject
language plpgsql volatile
set search_path = resident, pg_temp as $$
declare
  found_one resident.subject;
begin
  if digest is null or octet_length(digest) <> 32 then
    raise exception using errcode = 'invalid_parameter_value', message = 'an act needs the digest of its number';
  end if;
  perform pg_advisory_xact_lock(7206314, hashtext(encode(digest, 'hex')));
  found_one.state := 'stored';
  select r into found_one.resident from resident.resident r where nik = number for update;
  if not found then
    select case when has_left then 'left' else 'restricted' end,
      jsonb_populate_record(null::resident.resident, to_jsonb(r)), withheld_at
    into found_one.state, found_one.resident, found_one.since
    from resident.withheld_resident r where nik = number for update;
  end if;
  if not found then
    found_one.state := 'erased';
    select jsonb_populate_record(null::resident.resident, jsonb_build_object('id', id)), erased_at
    into found_one.resident, found_one.since from resident.erased_resident where nik_digest = digest
      and lifted_at is null;
  end if;
  if not found then
    perform resident.check_pepper(version);
    found_one.state := 'unknown';
  end if;
  return found_one;
end
$$;

-- An act, and who performs it for the citizen: an operator with a command, or the citizens' portal.
create type resident.act as (
  nik text, nik_digest bytea, pepper_version integer, operator text, reason text, case_reference text, request_id text
);

-- Writes the audit row of an act. A name in parentheses cannot be that of a partner.
create function resident.audit_act(act resident.act, name text, subject resident.subject, is_done boolean) returns void
language sql volatile
set search_path = resident, pg_temp
begin atomic
  insert into audit.resident_read
    (partner_id, key_id, request_id, route, nik_digest, pepper_version, row_count, shown,
      purpose, case_reference, user_reference)
  values
    ('(city)', 'subject', (act).request_id, name, (act).nik_digest, (act).pepper_version, is_done::integer,
      audit.encode_ids(array[coalesce(((subject).resident).id, 0)]),
      (act).reason, (act).case_reference, (act).operator);
end;

-- What the messenger stores about a number: its messages without their texts, since when the city's numbers know it, and since
-- when it gets no reminders.
create function resident.report_number(wanted text, wanted_digest bytea) returns json
language sql stable
set search_path = resident, pg_temp
begin atomic
  select json_build_object(
    'messages', coalesce((
      select json_agg(json_build_object('id', m.id, 'acceptedAt', m.accepted_at, 'sentAt', m.sent_at, 'state', m.state,
        'kind', m.kind, 'sender', m.sender, 'job', r.job) order by m.seq desc)
      from messaging.message m left join notification.run r on r.id = m.run
      where m.phone = wanted), '[]'),
    'knownSince', (select min(since) from messaging.contact c where c.phone = wanted),
    'optedOutSince', (select since from notification.opt_out o where o.digest = wanted_digest));
end;

-- Reports what is stored about a citizen, in clear, and who read it, newest first, at most `most` reads and acts. Reads that
-- showed the resident among others are included. What partners state about their own users is left out.
create function resident.report_subject(
  act resident.act, most integer, phone text default null, phone_digest bytea default null
) returns json
language plpgsql volatile security definer
set search_path = resident, pg_temp as $$
declare
  subject constant resident.subject := resident.find_subject((act).nik, (act).nik_digest, (act).pepper_version);
  number constant bigint := ((subject).resident).id;
  is_kept constant boolean := ((subject).resident).nik is not null;
  ids constant bigint[] := array(
    select id from resident.erased_resident where nik_digest = (act).nik_digest
    union select number where number is not null);
  report json;
begin
  if (phone is null) <> (phone_digest is null) then
    raise exception using errcode = 'invalid_parameter_value', message = 'a phone number needs its digest';
  end if;
  with found as materialized (
    select r.* from unnest(ids) one (resident_id) cross join lateral audit.reads_of(resident_id, most + 1) r
    order by r.id desc limit most + 1
  ), listed as (
    select * from found order by id desc limit most
  )
  select json_build_object(
    'state', (subject).state, 'since', (subject).since, 'id', number,
    'resident', case when is_kept then to_jsonb((subject).resident) - 'name_search' end,
    'corrections', coalesce((
      select json_agg(json_build_object('column', column_name, 'before', replaced, 'after', corrected, 'at', corrected_at)
        order by column_name)
      from resident.correction where resident_id = number), '[]'),
    'reads', coalesce((
      select json_agg(json_build_object('id', id, 'at', read_at, 'partner', partner_id, 'route', route, 'purpose', purpose,
        'case', case_reference, 'answers', answers, 'requestId', request_id) order by id desc)
      from listed where route not like 'subject-%'), '[]'),
    'acts', coalesce((
      select json_agg(json_build_object('id', id, 'at', read_at, 'act', substr(route, 9), 'by', user_reference,
        'reason', purpose, 'case', case_reference, 'requestId', request_id) order by id desc)
      from listed where route like 'subject-%'), '[]'),
    'hasMore', (select count(*) > most from found),
    'number', case when phone is not null then resident.report_number(phone, phone_digest) end)
  into report;
  perform resident.audit_act(act, 'subject-report', subject, is_kept);
  return report;
end
$$;

-- Reports to the citizens' portal, which has identified the citizen: never as an operator, nor messages to a number.
create function resident.report_to_portal(act resident.act, most integer) returns json
language plpgsql volatile security definer
set search_path = resident, pg_temp as $$
begin
  act.operator := '(portal)';
  return resident.report_subject(act, least(most, 10000));
end
$$;

-- Changes columns of a resident to the given values. Returns what those were and are, or no columns if nobody has the NIK.
create function resident.correct_subject(act resident.act, changes jsonb) returns json
language plpgsql volatile security definer
set search_path = resident, pg_temp as $$
declare
  subject constant resident.subject := resident.find_subject((act).nik, (act).nik_digest, (act).pepper_version);
  is_done constant boolean := ((subject).resident).nik is not null;
  before constant jsonb := to_jsonb((subject).resident);
  changed constant text[] := array(
    select key from jsonb_each_text(changes) where is_done and value <> before ->> key order by key);
begin
  if exists (select from jsonb_each_text(changes) where value is null) then
    raise exception using errcode = 'invalid_parameter_value', message = 'a correction needs values';
  end if;
  if is_done then
    perform set_config('resident.is_act', 'on', true);
    perform resident.store_subject(jsonb_populate_record((subject).resident, changes));
    perform set_config('resident.is_act', 'off', true);
    insert into resident.correction as known (resident_id, column_name, replaced, corrected)
    select ((subject).resident).id, key, before ->> key, changes ->> key from unnest(changed) key
    on conflict (resident_id, column_name) do update set corrected = excluded.corrected, corrected_at = now()
    where excluded.corrected <> known.replaced;
    -- corrected back
    delete from resident.correction c
    where c.resident_id = ((subject).resident).id and changes ->> c.column_name = c.replaced;
  end if;
  perform resident.audit_act(act, 'subject-correct', subject, is_done);
  return json_build_object('state', (subject).state, 'id', ((subject).resident).id, 'changes', coalesce((
    select json_agg(json_build_object('column', key, 'before', before ->> key, 'after', changes ->> key) order by key)
    from unnest(changed) key), '[]'));
end
$$;

-- Restricts a resident, or lifts that, with the same id. Returns the state before.
create function resident.restrict_subject(act resident.act, is_lifted boolean) returns json
language plpgsql volatile security definer
set search_path = resident, pg_temp as $$
declare
  subject resident.subject;
  number bigint;
  is_done boolean;
begin
  if is_lifted then
    perform pg_advisory_xact_lock(7206316);
  else
    -- before any other lock: imports in REPEATABLE READ hold it until they end
    update resident.restriction set version = version + 1;
  end if;
  subject := resident.find_subject((act).nik, (act).nik_digest, (act).pepper_version);
  number := ((subject).resident).id;
  is_done := (subject).state = any (case when is_lifted then array['restricted'] else array['stored', 'left'] end);
  if is_done and is_lifted then
    perform resident.release(number);
  elsif is_done and (subject).state = 'left' then
    update resident.withheld_resident set has_left = false, withheld_at = now() where id = number;
  elsif is_done then
    perform resident.withhold(array[number], false);
  end if;
  perform resident.audit_act(act, case when is_lifted then 'subject-lift' else 'subject-restrict' end, subject, is_done);
  return json_build_object('state', (subject).state, 'id', number, 'done', is_done);
end
$$;

-- Erases a resident, or lets an import add an erased one again. Returns the state before. Fails with 55P03 during an import,
-- which may have read the resident already.
create function resident.erase_subject(act resident.act, is_lifted boolean) returns json
language plpgsql volatile security definer
set search_path = resident, pg_temp as $$
declare
  subject resident.subject;
  number bigint;
  is_done boolean;
begin
  if not pg_try_advisory_xact_lock(7206313) then
    raise exception using errcode = 'lock_not_available', message = 'an import is running';
  end if;
  subject := resident.find_subject((act).nik, (act).nik_digest, (act).pepper_version);
  number := ((subject).resident).id;
  is_done := case when is_lifted then (subject).state = 'erased' else ((subject).resident).nik is not null end;
  if is_done and is_lifted then
    update resident.erased_resident set lifted_at = now() where nik_digest = (act).nik_digest and lifted_at is null;
  elsif is_done then
    -- an import has one pepper, for all of the numbers
    perform resident.check_pepper((act).pepper_version);
    delete from resident.resident where id = number;
    delete from resident.withheld_resident where id = number;
    delete from resident.correction where resident_id = number;
    insert into resident.erased_resident (id, nik_digest, pepper_version, erased_by, reason)
    values (number, (act).nik_digest, (act).pepper_version, (act).operator, (act).reason);
  end if;
  perform resident.audit_act(act, case when is_lifted then 'subject-readmit' else 'subject-erase' end, subject, is_done);
  return json_build_object('state', (subject).state, 'id', number, 'done', is_done);
end
$$;

grant execute on function resident.begin_import, resident.mark_left to municipal_importer;
-- an import writes the residents with corrections, also with the values that they have; a blank cell keeps what was replaced
grant select (resident_id, column_name, replaced) on resident.correction to municipal_importer;
grant usage on schema resident to municipal_subject;
grant execute on function
  resident.report_subject, resident.correct_subject, resident.restrict_subject, resident.erase_subject
to municipal_subject;
grant usage on schema resident to municipal_citizen_portal;
grant execute on function resident.report_to_portal to municipal_citizen_portal;

reset role;
