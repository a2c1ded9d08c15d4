-- The residents. The gateway reads them by two functions, resident.list and resident.search. They are put together
-- from the files that follow, in this order:
--
-- 1. tables (this file): the residents, and the index in whose order every page is read.
-- 2. masks: how much of a resident the gateway may see.
-- 3. blocks: the order is cut into blocks of about 8,192 rows, each with a count, so that any page and the exact
--    total cost the same however many residents there are.
-- 4. search: how many names of each block contain a string, and which residents match.
-- 5. reading: finds a page, masks it, and writes the audit row in the same transaction.
--
-- Two more files have what happens on writing: counting follows every change of the residents, profile upkeep
-- follows the names.
set role municipal_owner;

create table resident.resident (
  id bigint generated always as identity primary key,
  nik text collate "C" not null unique check (nik ~ '^[0-9]{16}$'),
  family_card_number text not null check (family_card_number ~ '^[0-9]{16}$'),
  name text not null check (name <> ''),
  mother_name text not null,
  address text not null,
  hamlet text not null,
  village text not null,
  district text not null,
  city text not null,
  -- local time of the city, without zone; microseconds are part of the answer
  created_at timestamp(6) not null default (now() at time zone 'Asia/Jakarta')
    check (created_at between '1900-01-01' and '9999-12-31 23:59:59.999999'),
  -- lower case by ICU's root rules, so that É finds é on any server, whatever its locale
  name_search text collate "C" not null generated always as (lower(name collate "und-x-icu")) stored,
  -- longer ones do not fit into a row of resident_newest
  constraint resident_name_length check (length(name) <= 500)
);
comment on table resident.resident is 'Civil records in clear. Only the owner and the importer may read them.';

-- The order of every page; the id makes ties stable. With the name, so that matches are counted in the index alone.
create index resident_newest on resident.resident (created_at desc, id desc) include (name_search);

grant usage on schema resident to municipal_importer;
grant select, insert, update on resident.resident to municipal_importer;

reset role;
