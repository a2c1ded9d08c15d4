-- The residents, and the blocks that count them (functions/resident/block-count.sql). The gateway reads them with three
-- functions alone: resident.list, resident.search and resident.verify.
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
  created_at timestamp(6) not null default (now() at time zone city.time_zone())
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

-- A resident's columns, without those that are computed from them.
create view resident.record with (security_barrier) as
select id, nik, family_card_number, name, mother_name, address, hamlet, village, district, city, created_at
from resident.resident;

grant usage on schema resident to municipal_importer;
grant select, insert, update on resident.resident to municipal_importer;
grant execute on function resident.fold_name to municipal_importer;

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

create table resident.block (
  id integer generated always as identity primary key,
  -- first position of the block, which ends where the next one begins
  low_created_at timestamp(6) not null,
  low_id bigint not null,
  row_count integer not null,
  -- increases with every change of its rows
  version bigint not null default 0,
  -- of its substring counts (functions/resident/substring-count.sql): the version of the block when they were made, and the generation of
  -- the strings
  counted_version bigint,
  counted_generation integer
) with (fillfactor = 50);
create unique index block_newest on resident.block (low_created_at desc, low_id desc);

-- Changes that are not yet part of the counts; with difference 0, only a name changed. They have positions instead of block
-- ids, because a position is valid for any block boundaries, in any snapshot.
create table resident.pending_change (
  -- for logical replication: without a key, a subscriber scans the table for each deleted row, and applying 20,000
  -- changes took 33 s instead of 3
  entry bigint generated always as identity primary key,
  created_at timestamp(6) not null,
  id bigint not null,
  difference integer not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

-- The version of the block boundaries, which detects writers with an older snapshot.
create table resident.block_layout (
  is_only boolean primary key default true check (is_only),
  version bigint not null
);
insert into resident.block_layout (version) values (0);
insert into resident.block (low_created_at, low_id, row_count) values ('-infinity', 0, 0);

reset role;
