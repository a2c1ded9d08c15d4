set role municipal_owner;

-- A resident as the gateway may see it: sensitive columns masked.
create type resident.masked_resident as (
  nik text,
  name text,
  "motherName" text,
  "familyCardNumber" text,
  address text,
  hamlet text,
  village text,
  district text,
  city text,
  "createdAt" text
);

create type resident.page as (total bigint, residents json);

-- First 4 and last 2 digits. Not 4 and 4: beside the sub-district that would leave a birth date to guess.
create function resident.mask_number(number text) returns text
language sql immutable parallel safe
return left(number, 4) || repeat('*', length(number) - 6) || right(number, 2);

-- First letter of each word; the stars do not tell how long the word is.
create function resident.mask_name(name text) returns text
language sql immutable parallel safe
return regexp_replace(name, '(\S)\S*', '\1***', 'g');

-- First 4 characters, and never more than half of a short address.
create function resident.mask_address(address text) returns text
language sql immutable parallel safe
return left(address, least(4, length(address) / 2)) || '******';

create function resident.mask(resident resident.resident) returns resident.masked_resident
language sql stable parallel safe
return row(
  resident.mask_number((resident).nik),
  (resident).name,
  resident.mask_name((resident).mother_name),
  resident.mask_number((resident).family_card_number),
  resident.mask_address((resident).address),
  (resident).hamlet,
  (resident).village,
  (resident).district,
  (resident).city,
  to_char((resident).created_at, 'YYYY-MM-DD"T"HH24:MI:SS.US')
)::resident.masked_resident;

create function resident.check_page(page_number bigint, page_size integer) returns void
language plpgsql immutable as $$
begin
  if page_number is null or page_number < 1 or page_size is null or page_size not between 1 and 100 then
    raise exception using errcode = 'invalid_parameter_value', message = 'page number or size out of range';
  end if;
end
$$;

-- The two readers. STABLE, so that total and rows are of one snapshot. Their insides may be replaced by
-- anything that answers the same: nothing outside knows them.

create function resident.read_list(page_number bigint, page_size integer) returns resident.page
language sql stable
set search_path = resident, pg_temp as $$
  select
    (select count(*) from resident.resident),
    coalesce((
      select json_agg(resident.mask(newest) order by newest.created_at desc, newest.id desc)
      from (
        select * from resident.resident
        order by created_at desc, id desc
        offset (page_number - 1) * page_size limit page_size
      ) newest
    ), '[]');
$$;

create function resident.read_search(nik_equals text, name_part text, page_number bigint, page_size integer)
returns resident.page
language sql stable
-- a kept plan could not use the NIK's index, as it must serve a search by name too
set plan_cache_mode = force_custom_plan
set search_path = resident, pg_temp as $$
  with matching as materialized (
    select id, created_at from resident.resident
    where (nik_equals is null or nik = nik_equals)
      and (name_part is null or strpos(name_search, lower(name_part collate "und-x-icu") collate "C") > 0)
  )
  select
    (select count(*) from matching),
    coalesce((
      select json_agg(resident.mask(found) order by found.created_at desc, found.id desc)
      from resident.resident found
      where found.id in (
        select id from matching
        order by created_at desc, id desc
        offset (page_number - 1) * page_size limit page_size
      )
    ), '[]');
$$;

-- What the gateway may execute: the read and its audit row in one transaction. If the row cannot be
-- written, there is no answer.

create function resident.list(
  page_number bigint, page_size integer, partner_id text, key_id text, request_id text
) returns resident.page
language plpgsql volatile security definer
set search_path = resident, pg_temp as $$
declare
  page resident.page;
begin
  perform resident.check_page(page_number, page_size);
  page := resident.read_list(page_number, page_size);
  insert into audit.resident_read (partner_id, key_id, request_id, route, row_count)
  values (partner_id, key_id, request_id, 'list', json_array_length(page.residents));
  return page;
end
$$;

create function resident.search(
  nik text, name text, page_number bigint, page_size integer,
  partner_id text, key_id text, request_id text,
  nik_digest bytea, name_digest bytea, pepper_version integer
) returns resident.page
language plpgsql volatile security definer
set search_path = resident, pg_temp as $$
declare
  page resident.page;
begin
  perform resident.check_page(page_number, page_size);
  if nik is null and coalesce(name, '') = '' then
    raise exception using errcode = 'invalid_parameter_value', message = 'a search needs a NIK or a name';
  end if;
  if (nik is null) <> (nik_digest is null) or (name is null) <> (name_digest is null) then
    raise exception using errcode = 'invalid_parameter_value', message = 'each searched term needs its digest';
  end if;
  page := resident.read_search(nik, name, page_number, page_size);
  insert into audit.resident_read
    (partner_id, key_id, request_id, route, nik_digest, name_digest, pepper_version, row_count)
  values
    (partner_id, key_id, request_id, 'search', nik_digest, name_digest, pepper_version,
      json_array_length(page.residents));
  return page;
end
$$;

grant usage on schema resident to municipal_resident, municipal_importer;
grant execute on function resident.list, resident.search to municipal_resident;
grant select, insert, update on resident.resident to municipal_importer;

reset role;
