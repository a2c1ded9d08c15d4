-- Fails if somebody was erased with a pepper of another version: their numbers cannot be recognized.
create or replace function resident.check_pepper(version integer) returns void
language plpgsql stable
set search_path = resident, pg_temp as $$
begin
  if exists (select from resident.erased_resident where lifted_at is null and pepper_version <> version) then
    raise exception using errcode = 'MI450', message = 'residents were erased with another pepper';
  end if;
end
$$;

-- Finds the subject of an act. Acts on one number run one after another.
create or replace function resident.find_subject(number text, digest bytea, version integer) returns resident.subject
language plpgsql volatile
set search_path = resident, pg_temp as $$
declare
  found_one resident.subject;
begin
  if digest is null or octet_length(digest) <> 32 then
    raise exception using errcode = 'invalid_parameter_value', message = 'an act needs the digest of its number';
  end if;
  perform pg_advisory_xact_lock(7206314 /* citizenRequest */, hashtext(encode(digest, 'hex')));
  found_one.state := 'stored';
  select r into found_one.resident from resident.resident r where nik = number for update;
  if not found then
    select case when has_left then 'left' else 'restricted' end,
      jsonb_populate_record(null::resident.resident, record), withheld_at
    into found_one.state, found_one.resident, found_one.since
    from resident.withheld_resident where nik = number for update;
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

-- What the messenger stores about a number: its messages without their texts, since when the city's numbers know it, and since
-- when it gets no reminders.
create or replace function resident.report_number(wanted text, wanted_digest bytea) returns json
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
create or replace function resident.report_subject(
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
create or replace function resident.report_to_portal(act resident.act, most integer) returns json
language plpgsql volatile security definer
set search_path = resident, pg_temp as $$
begin
  act.operator := '(portal)';
  return resident.report_subject(act, least(most, 10000));
end
$$;

grant execute on function resident.report_subject to municipal_subject;
grant execute on function resident.report_to_portal to municipal_citizen_portal;
