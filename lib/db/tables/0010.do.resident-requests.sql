-- Residents who exercised a right (functions/resident/request.sql). Those who are withheld or erased leave resident.resident, so
-- that lists, searches, verifications and counts need no condition.
set role municipal_owner;

-- Residents who asked to be restricted, and those who have left the register, with their ids; no function of the gateway
-- reads them.
create table resident.withheld_resident (
  id bigint primary key,
  nik text collate "C" not null unique,
  -- all columns of the resident
  record jsonb not null,
  withheld_at timestamptz not null default now(),
  -- an import that has the resident again shows them again
  has_left boolean not null
);

-- Increases with every resident who is withheld, so that an import whose snapshot is older fails.
create table resident.restriction (
  is_only boolean primary key default true check (is_only),
  version bigint not null
);
insert into resident.restriction (version) values (0);

-- Of a resident who was erased, the id, which the audit has, and an HMAC of the number, by which an import is refused.
create table resident.erased_resident (
  id bigint primary key,
  nik_digest bytea not null check (octet_length(nik_digest) = 32),
  pepper_version integer not null,
  erased_at timestamptz not null default now(),
  erased_by audit.reference not null,
  reason audit.reference not null,
  -- from when imports may add the resident again, with another id
  lifted_at timestamptz
);
create unique index erased_resident_by_number on resident.erased_resident (nik_digest) where lifted_at is null;
create index erased_resident_of_number on resident.erased_resident (nik_digest);

-- A value that was corrected here, and that which the register had. An import that still brings the register's changes
-- nothing; any other value is newer than the correction, and ends it, also the corrected one: should the register return to
-- the value from before, that is a change.
create table resident.correction (
  resident_id bigint not null,
  column_name text not null check (column_name in
    ('family_card_number', 'name', 'mother_name', 'address', 'hamlet', 'village', 'district', 'city')),
  replaced text not null,
  corrected text not null check (corrected <> replaced),
  corrected_at timestamptz not null default now(),
  primary key (resident_id, column_name)
);

-- The resident that an act is about; the state is stored, restricted, left, erased or unknown.
create type resident.subject as (state text, resident resident.resident, since timestamptz);

-- An act, and who performs it for the citizen: an operator with a command, or the citizens' portal.
create type resident.act as (
  nik text, nik_digest bytea, pepper_version integer, operator text, reason text, case_reference text, request_id text
);
-- an import writes the residents with corrections, also with the values that they have; a blank cell keeps what was replaced
grant select (resident_id, column_name, replaced) on resident.correction to municipal_importer;
grant usage on schema resident to municipal_subject;
grant usage on schema resident to municipal_citizen_portal;

reset role;
