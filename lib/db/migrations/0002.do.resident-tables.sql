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
  -- the city's own clock, without zone; microseconds are part of the answer
  created_at timestamp(6) not null default (now() at time zone 'Asia/Jakarta')
    check (created_at between '1900-01-01' and '9999-12-31 23:59:59.999999'),
  -- lower case by ICU's root rules, so that É finds é on any server, whatever its locale
  name_search text collate "C" not null generated always as (lower(name collate "und-x-icu")) stored
);
comment on table resident.resident is 'Civil records in clear. Only the owner and the importer may read them.';

-- The order of every page. The id makes ties stable.
create index resident_newest on resident.resident (created_at desc, id desc);

-- One row for each read of resident data. Searched terms stand here as HMACs with a pepper from outside.
create table audit.resident_read (
  id bigint generated always as identity primary key,
  read_at timestamptz not null default now(),
  partner_id text not null check (partner_id <> ''),
  key_id text not null check (key_id <> ''),
  request_id text not null check (request_id <> ''),
  route text not null check (route in ('list', 'search')),
  nik_digest bytea,
  name_digest bytea,
  pepper_version integer,
  row_count integer not null,
  check (pepper_version is not null or (nik_digest is null and name_digest is null)),
  check (route = 'list' or nik_digest is not null or name_digest is not null)
);

reset role;
