-- The residents. The gateway reads them with two functions, resident.list and resident.search, built from these files:
--
-- 1. tables (this file): the residents, and the index that orders every page.
-- 2. masks: the parts of a resident that the gateway may see.
-- 3. blocks: divides the order into counted blocks, so that any page and the exact total cost the same at any size.
-- 4. search: counts the names of each block that contain a string, and finds the residents that match.
-- 5. reading: finds a page, masks it, and writes the audit row in the same transaction.
--
-- Two more files follow writes: counting records every change of the residents, profile upkeep those of names.
set role municipal_owner;

create table resident.resident (
  id bigint generated always as identity primary key,
  nik text collate "C" not null unique check (nik ~ '^[0-9]{16}$'),
  -- blank without a family card
  family_card_number text not null check (family_card_number ~ '^([0-9]{16})?$'),
  name text not null check (name <> ''),
  mother_name text not null,
  address text not null,
  hamlet text not null,
  village text not null,
  district text not null,
  city text not null,
  -- local time of the city, without zone; responses contain the microseconds
  created_at timestamp(6) not null default (now() at time zone 'Asia/Jakarta')
    check (created_at between '1900-01-01' and '9999-12-31 23:59:59.999999'),
  -- lower case by ICU's root rules: É matches é in any locale
  name_search text collate "C" not null generated always as (lower(name collate "und-x-icu")) stored,
  -- longer names do not fit into the index resident_newest
  constraint resident_name_length check (length(name) <= 500)
);
comment on table resident.resident is 'Civil records in clear. Only the owner and the importer may read them; one at a time, the functions for citizens.';

-- The order of every page; the id breaks ties. Includes the name, so that matches are counted by index-only scans.
create index resident_newest on resident.resident (created_at desc, id desc) include (name_search);

grant usage on schema resident to municipal_importer;
grant select, insert, update on resident.resident to municipal_importer;

reset role;
