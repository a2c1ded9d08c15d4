-- What reads return, and what partners have read.
set role municipal_owner;

create type resident.page as (total bigint, residents json);

-- A page, and the ids of its residents for the audit.
create type resident.reading as (total bigint, residents json, ids bigint[]);

-- What a partner has read within ten minutes. Concurrent reads are counted in separate rows, so that none waits for another.
create table resident.read_count (
  id bigint generated always as identity primary key,
  partner_id text not null,
  since timestamptz not null,
  -- that were shown or looked up
  residents integer not null,
  -- searches by number, verifications, and rows beyond the first hundred of a result: more than a person reads
  look_ups integer not null,
  -- searches for numbers that no resident has. Guessing the masked digits of a number takes some thousand searches;
  -- an agency that looks up numbers it was given rarely has any
  unknown_numbers integer not null
  -- updates stay in their page, where they need no entry in an index
) with (fillfactor = 50);
create index read_count_by_partner on resident.read_count (partner_id, since);

grant usage on schema resident to municipal_resident;
grant usage on schema resident to municipal_partner_admin;

-- Verifications with a wrong value, of the last day: the number as an HMAC, because 16 digits can be guessed.
create table resident.failed_verification (
  id bigint generated always as identity primary key,
  partner_id text not null check (partner_id <> ''),
  nik_digest bytea not null check (octet_length(nik_digest) = 32),
  made_at timestamptz not null default clock_timestamp()
);
create index failed_verification_by_number on resident.failed_verification (nik_digest, made_at);
create index failed_verification_by_partner on resident.failed_verification (partner_id, made_at);
create index failed_verification_by_age on resident.failed_verification (made_at);

reset role;
