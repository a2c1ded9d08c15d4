-- The functions that the gateway may execute: list and search. The functions that they call are STABLE, so that total
-- and rows come from one snapshot.
set role municipal_owner;

create type resident.page as (total bigint, residents json);

-- A page, and the ids of its residents for the audit.
create type resident.reading as (total bigint, residents json, ids bigint[]);

create function resident.check_page(page_number bigint, page_size integer) returns void
language plpgsql immutable as $$
begin
  if page_number is null or page_number < 1 or page_size is null or page_size not between 1 and 100 then
    raise exception using errcode = 'invalid_parameter_value', message = 'page number or size out of range';
  end if;
end
$$;

-- The fields that the agreement of a key has: null for all, none for a key that the partner does not have.
create function resident.granted_fields(partner text, key text) returns text[]
language sql stable
return (select case when k.id is null then '{}' else k.fields end
  from (select) caller left join partner.api_key k on k.id = key and k.partner_id = partner);

-- Returns the residents with these ids, masked, in this order.
create function resident.show(ids bigint[], fields text[]) returns json
language sql stable
set search_path = resident, pg_temp
-- its callers turn it off
set enable_nestloop = on
return coalesce((
  select json_agg(resident.mask(r, fields) order by chosen.place)
  from unnest(ids) with ordinality chosen (id, place) join resident.resident r on r.id = chosen.id
), '[]');

-- Nested loops are off here and in read_search: sessions reuse a generic plan, and one made without pending changes
-- joins them by a nested loop, which takes 162 ms instead of 15 once 1,200 blocks have changes.
create function resident.read_list(
  page_number bigint, page_size integer, fields text[] default null
) returns resident.reading
language plpgsql stable
set search_path = resident, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_nestloop = off
as $$
declare
  page resident.reading;
  skipped bigint := (page_number - 1) * page_size;
  high_created_at timestamp(6);
  high_id bigint;
begin
  page.total := (select sum(row_count) from resident.block)
    + coalesce((select sum(difference) from resident.noted_change), 0);
  if skipped < page.total then
    -- counted_blocks() with a running total, in one pass
    select b.high_created_at, b.high_id, skipped - (b.up_to - b.row_count)
    into high_created_at, high_id, skipped
    from (
      select b.low_created_at, b.low_id, b.row_count + coalesce(n.difference, 0) as row_count,
        lag(b.low_created_at, 1, 'infinity'::timestamp) over newest as high_created_at,
        lag(b.low_id, 1, 9223372036854775807) over newest as high_id,
        sum(b.row_count + coalesce(n.difference, 0)) over newest as up_to
      from resident.block b left join resident.noted_differences() n on n.block_id = b.id
      window newest as (order by b.low_created_at desc, b.low_id desc)
    ) b
    where b.up_to > skipped
    order by b.low_created_at desc, b.low_id desc limit 1;
    page.ids := array(
      select id from resident.resident where (created_at, id) < (high_created_at, high_id)
      order by created_at desc, id desc offset skipped limit page_size);
  end if;
  page.residents := resident.show(page.ids, fields);
  return page;
end
$$;

create function resident.read_search(
  nik_equals text, name_part text, page_number bigint, page_size integer, fields text[] default null
) returns resident.reading
language plpgsql stable
set search_path = resident, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_nestloop = off
as $$
declare
  page resident.reading;
  skipped bigint := (page_number - 1) * page_size;
  term text := resident.fold_name(name_part);
  finding resident.finding := (0, '{}');
begin
  -- a name of marks alone is nobody's, instead of a part of every name
  if term = '' then
    null;
  elsif nik_equals is null then
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
  page.ids := finding.ids;
  page.residents := resident.show(page.ids, fields);
  return page;
end
$$;

-- Fails unless the purpose is one that the key's agreement has, or a well-formed one if it requires none. The detail
-- lists the codes of the agreement.
create function resident.check_purpose(partner text, key text, purpose text) returns void
language plpgsql stable
set search_path = resident, pg_temp as $$
declare
  agreed constant text[] := (select k.purposes from partner.api_key k where k.id = key and k.partner_id = partner);
begin
  if purpose = any (agreed) is not true and agreed is not null
    or purpose !~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$' or purpose ~ '[0-9]{15}'
  then
    raise exception using errcode = 'MI400', message = 'no purpose of the agreement',
      detail = coalesce(array_to_string(agreed, ', '), '');
  end if;
end
$$;

-- What a partner has read within ten minutes. Concurrent reads are counted in separate rows, so that none waits for another.
create table resident.read_count (
  id bigint generated always as identity primary key,
  partner_id text not null,
  since timestamptz not null,
  -- that were shown or looked up
  residents integer not null,
  -- searches by number, verifications, and rows beyond the first hundred of a result: more than a person reads
  look_ups integer not null,
  -- searches for numbers that no resident has. Guessing the masked digits of a number takes some thousand misses;
  -- an agency that looks up numbers it was given rarely has any
  misses integer not null
  -- updates stay in their page, where they need no entry in an index
) with (fillfactor = 50);
create index read_count_by_partner on resident.read_count (partner_id, since);

create function resident.daily_misses() returns integer language sql immutable return 200;

-- In how many seconds there is room for this many more, when what was read longest ago is a day old.
create function resident.seconds_to_room(partner text, agreed integer, room integer, of_misses boolean) returns integer
language sql stable
set search_path = resident, pg_temp as $$
  select ceil(extract(epoch from max(since) + interval '1 day' - now()))::integer
  from (
    select since,
      sum(sum(case when of_misses then misses else residents end)) over (order by since desc) as since_then
    from resident.read_count where partner_id = partner and since > now() - interval '1 day' group by since
  ) spans
  where since_then + room > agreed
$$;

-- Fails if the partner's agreement has no room for this many residents more within a day, or, by number, if the limit of
-- misses has none. The detail says in how many seconds there is room; of residents first how many are left, and no
-- seconds for a page of more than the agreement has, which a page of more than all agreed ones never has.
create function resident.check_reads(partner text, by_number boolean, room integer default 1, counted integer default 0)
returns bigint
language plpgsql volatile
set search_path = resident, pg_temp as $$
declare
  agreed constant integer := (select p.residents_per_day from partner.partner p where p.id = partner);
  made record;
  remaining bigint;
begin
  select coalesce(sum(residents), 0) as residents, coalesce(sum(misses), 0) as misses into made from resident.read_count
  where partner_id = partner and since > now() - interval '1 day';
  if made.residents + room > agreed then
    remaining := greatest(0, agreed - made.residents + counted);
    raise exception using errcode = 'MI431', message = 'more residents than agreed', detail = format('%s %s', remaining,
      case when counted <= agreed or remaining = 0 then resident.seconds_to_room(partner, agreed, room, false) end);
  end if;
  if by_number and made.misses + room > resident.daily_misses() then
    raise exception using errcode = 'MI429', message = 'too many searches for numbers that do not exist',
      detail = resident.seconds_to_room(partner, resident.daily_misses(), room, true)::text;
  end if;
  return agreed - made.residents;
end
$$;

-- How many residents a partner has read within a day, for the operator who grants them.
create function resident.count_read_by(partner text) returns integer
language sql stable security definer
set search_path = resident, pg_temp as $$
  select coalesce(sum(residents), 0)::integer from resident.read_count
  where partner_id = partner and since > now() - interval '1 day'
$$;

-- Counts a read, and fails if a limit has no room for it. Near one, it waits for other reads of the partner, so that
-- concurrent ones share what is left: a hundred at once read 10,000 residents. Above the agreed look-ups, it raises a
-- notice, which the calling function logs.
create function resident.count_read(
  partner text, key text, shown integer, skipped bigint, by_number boolean default false, is_miss boolean default false
) returns void
language plpgsql volatile
set search_path = resident, pg_temp as $$
declare
  this_span constant timestamptz := date_bin('10 minutes', now(), 'epoch');
  looked_up constant integer := case when by_number then 1 else greatest(0, least(shown, skipped + shown - 100)) end;
  read constant integer := greatest(shown, looked_up);
  agreed integer;
  made integer;
begin
  update resident.read_count
  set residents = residents + read, look_ups = look_ups + looked_up, misses = misses + is_miss::integer
  where id = (
    select id from resident.read_count where partner_id = partner and since = this_span limit 1 for update skip locked);
  if not found then
    insert into resident.read_count (partner_id, since, residents, look_ups, misses)
    values (partner, this_span, read, looked_up, is_miss::integer);
  end if;
  if resident.check_reads(partner, is_miss, 0, read) < 10000 or is_miss then
    perform pg_advisory_xact_lock(7206315, hashtext(partner));
    perform resident.check_reads(partner, is_miss, 0, read);
  end if;
  if looked_up > 0 then
    agreed := (select 10 * p.look_ups_per_minute from partner.partner p where p.id = partner);
    made := (select sum(look_ups) from resident.read_count where partner_id = partner and since = this_span);
    if made > agreed then
      raise notice using errcode = 'MI202', message = 'more read than agreed', detail = json_build_object(
        'partner_id', partner, 'key_id', key, 'look_ups', made, 'agreed', agreed);
    end if;
  end if;
end
$$;

-- Each read writes its audit row in the same transaction: if that fails, no data is returned.

-- Returns a page of all residents, newest first, with the exact total.
create function resident.list(
  page_number bigint, page_size integer, partner_id text, key_id text, request_id text,
  purpose text default null, case_reference text default null, user_reference text default null
) returns resident.page
language plpgsql volatile security definer
set search_path = resident, pg_temp as $$
declare
  reading resident.reading;
  page resident.page;
begin
  perform resident.check_page(page_number, page_size);
  perform resident.check_purpose(partner_id, key_id, purpose);
  perform resident.check_reads(partner_id, false);
  reading := resident.read_list(page_number, page_size, resident.granted_fields(partner_id, key_id));
  page.total := reading.total;
  page.residents := reading.residents;
  perform resident.count_read(partner_id, key_id, json_array_length(page.residents), (page_number - 1) * page_size);
  insert into audit.resident_read
    (partner_id, key_id, request_id, route, row_count, shown, purpose, case_reference, user_reference)
  values
    (partner_id, key_id, request_id, 'list', json_array_length(page.residents), audit.encode_ids(reading.ids),
      purpose, case_reference, user_reference);
  return page;
end
$$;

create function resident.search(
  nik text, name text, page_number bigint, page_size integer,
  partner_id text, key_id text, request_id text,
  nik_digest bytea, name_digest bytea, pepper_version integer,
  purpose text default null, case_reference text default null, user_reference text default null
) returns resident.page
language plpgsql volatile security definer
set search_path = resident, pg_temp as $$
declare
  fields constant text[] := resident.granted_fields(partner_id, key_id);
  reading resident.reading;
  page resident.page;
begin
  perform resident.check_page(page_number, page_size);
  if nik is null and coalesce(name, '') = '' then
    raise exception using errcode = 'invalid_parameter_value', message = 'a search needs a NIK or a name';
  end if;
  if (nik is null) <> (nik_digest is null) or (name is null) <> (name_digest is null) then
    raise exception using errcode = 'invalid_parameter_value', message = 'each searched term needs its digest';
  end if;
  -- totals would tell a name that the agreement does not show, letter by letter; a key that is not the partner's has none
  if name <> '' and fields <> '{}' and 'nama' <> all (fields) then
    raise exception using errcode = 'MI403', message = 'the agreement does not have names';
  end if;
  perform resident.check_purpose(partner_id, key_id, purpose);
  perform resident.check_reads(partner_id, nik is not null);
  reading := resident.read_search(nik, name, page_number, page_size, fields);
  page.total := reading.total;
  page.residents := reading.residents;
  perform resident.count_read(partner_id, key_id, json_array_length(page.residents), (page_number - 1) * page_size,
    nik is not null, nik is not null and page.total = 0);
  insert into audit.resident_read
    (partner_id, key_id, request_id, route, nik_digest, name_digest, pepper_version, row_count, shown,
      purpose, case_reference, user_reference)
  values
    (partner_id, key_id, request_id, 'search', nik_digest, name_digest, pepper_version,
      json_array_length(page.residents), audit.encode_ids(reading.ids), purpose, case_reference, user_reference);
  return page;
end
$$;

grant usage on schema resident to municipal_resident;
grant execute on function resident.list, resident.search to municipal_resident;
grant usage on schema resident to municipal_partner_admin;
grant execute on function resident.count_read_by to municipal_partner_admin;

reset role;
