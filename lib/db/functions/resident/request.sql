-- A citizen's rights of access, correction, restriction and erasure. Each act is one transaction and adds a row to the audit
-- of reads, so that it is sealed and anchored like any read.

-- Writes the audit row of an act. A name in parentheses cannot be that of a partner.
create or replace function resident.audit_act(act resident.act, name text, subject resident.subject, is_done boolean) returns void
language sql volatile
set search_path = resident, pg_temp
begin atomic
  select audit.record_read(
    ('(city)', 'subject', (act).request_id, (act).reason, (act).case_reference, (act).operator), name, is_done::integer,
    array[coalesce(((subject).resident).id, 0)], (act).nik_digest, pepper_version => (act).pepper_version);
end;

-- Changes columns of a resident to the given values. Returns what those were and are, or no columns if nobody has the NIK.
create or replace function resident.correct_subject(act resident.act, changes jsonb) returns json
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
create or replace function resident.restrict_subject(act resident.act, is_lifted boolean) returns json
language plpgsql volatile security definer
set search_path = resident, pg_temp as $$
declare
  subject resident.subject;
  number bigint;
  is_done boolean;
begin
  if is_lifted then
    perform pg_advisory_xact_lock(7206316 /* liftedRestriction */);
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
create or replace function resident.erase_subject(act resident.act, is_lifted boolean) returns json
language plpgsql volatile security definer
set search_path = resident, pg_temp as $$
declare
  subject resident.subject;
  number bigint;
  is_done boolean;
begin
  if not pg_try_advisory_xact_lock(7206313 /* residentImport */) then
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

grant execute on function resident.correct_subject, resident.restrict_subject, resident.erase_subject to
  municipal_subject;
