-- The functions that the gateway may execute, beside verify: they read a page, and write the audit row in the same transaction.

-- The fields that the agreement of a key has: null for all, none for a key that the partner does not have.
create or replace function resident.granted_fields(partner text, key text) returns text[]
language sql stable
return (select case when k.id is null then '{}' else k.fields end
  from (select) caller left join partner.api_key k on k.id = key and k.partner_id = partner);

-- Returns a page of all residents, newest first, with the exact total.
create or replace function resident.list(
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
  perform audit.record_read((partner_id, key_id, request_id, purpose, case_reference, user_reference), 'list',
    json_array_length(page.residents), reading.ids);
  return page;
end
$$;

create or replace function resident.search(
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
  perform audit.record_read((partner_id, key_id, request_id, purpose, case_reference, user_reference), 'search',
    json_array_length(page.residents), reading.ids, nik_digest, name_digest, pepper_version);
  return page;
end
$$;

grant execute on function resident.list, resident.search to municipal_resident;
