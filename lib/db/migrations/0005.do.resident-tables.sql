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

-- The form in which names are searched and compared: lower case by ICU's root rules in any locale, each sequence of blanks as
-- one, without apostrophes and marks that nobody sees: MA’RUF is maruf. Verification also leaves out diacritics.
create function resident.fold_name(name text) returns text
language sql immutable parallel safe
return case
  -- most names are plain, and this takes a fraction of the time
  when name collate "C" !~ '[^ -&(-_a-~]|  ' then lower(name collate "C")
  else lower(regexp_replace(translate(
    normalize(regexp_replace(name collate "C", '[\u00ad\u00b4\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]', '', 'g'), NFKC),
    U&'''`\2018\2019\201b\02b9\02bb\02bc\02be\02bf\02ca\02cb\2032\055a', '') collate "C",
    '[\s\u0085\u1680\u2028\u2029]+', ' ', 'g') collate "und-x-icu") collate "C"
end;

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
  -- a letter may become several, and what is longer does not fit into the index resident_newest
  name_search text collate "C" not null generated always as (left(resident.fold_name(name), 500)) stored,
  -- longer names do not fit into the index resident_newest
  constraint resident_name_length check (length(name) <= 500)
)
-- after 100,000 of 5 million changed, not a million: searches count names by index-only scans, which look at each changed page
with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
comment on table resident.resident is 'Civil records in clear. Only the owner and the importer may read them; one at a time, the functions for citizens.';

-- The order of every page; the id breaks ties. Includes the name, so that matches are counted by index-only scans.
create index resident_newest on resident.resident (created_at desc, id desc) include (name_search);

grant usage on schema resident to municipal_importer;
grant select, insert, update on resident.resident to municipal_importer;
grant execute on function resident.fold_name to municipal_importer;

reset role;
