-- The audit: one row for each read of resident data, written by resident.list, resident.search and resident.verify, and sealed
-- in batches (functions/audit/seal.sql).
set role municipal_owner;

-- not an identity column, which partitions support from PostgreSQL 17 on
create sequence audit.resident_read_id;

-- A reference of the partner: opaque. A run of 15 digits could be the number of a person.
create domain audit.reference as text check (value ~ '^[ -~]{1,100}$' and value !~ '[0-9]{15}');

-- Who reads, and why, as the caller states it.
create type audit.caller as (
  partner_id text, key_id text, request_id text, purpose text, case_reference text, user_reference text
);

create function audit.count_bytes(number bigint) returns integer
language sql immutable parallel safe
return greatest(1, octet_length(ltrim(int8send(number), '\x00')));

create function audit.decode_number(bytes bytea) returns bigint
language sql immutable parallel safe
return ('x' || lpad(encode(bytes, 'hex'), 16, '0'))::bit(64)::bigint;

-- Returns the ids in ascending order.
create function audit.decode_ids(encoded bytea) returns bigint[]
language plpgsql immutable parallel safe as $$
declare
  id_bytes integer;
  step_bytes integer;
  id bigint;
  ids bigint[] := '{}';
begin
  if encoded = '' then
    return ids;
  end if;
  id_bytes := get_byte(encoded, 0) / 16;
  step_bytes := get_byte(encoded, 0) % 16;
  id := audit.decode_number(substr(encoded, 2, id_bytes));
  ids := array[id];
  for place in 2 + id_bytes..octet_length(encoded) by step_bytes loop
    id := id + audit.decode_number(substr(encoded, place, step_bytes));
    ids := array_append(ids, id);
  end loop;
  return ids;
end
$$;

-- Search terms are stored as HMACs with a pepper from outside the database. Partitioned by ranges of id, so that
-- whole partitions expire: at 50 reads a second the table would grow by about 350 GB a year, 220 bytes each with the indexes
-- (`npm run bench -- growth`).
create table audit.resident_read (
  id bigint primary key default nextval('audit.resident_read_id'),
  read_at timestamptz not null default now(),
  partner_id text not null check (partner_id <> ''),
  key_id text not null check (key_id <> ''),
  request_id text not null check (request_id <> ''),
  route text not null check (route in ('list', 'search', 'verify', 'subject-report', 'subject-correct',
    'subject-restrict', 'subject-lift', 'subject-erase', 'subject-readmit')),
  nik_digest bytea,
  name_digest bytea,
  pepper_version integer,
  -- rows that were shown; of a verification 1 if all values matched
  row_count integer not null,
  -- their ids, encoded; of a verification that of the resident who has the number, 0 for nobody
  shown bytea not null,
  -- of a verification: by column, whether the value matched
  answers json check ((answers is null) = (route <> 'verify')),
  -- as the partner states them; of an act for the citizen, its reason, the case, and the operator
  purpose audit.reference,
  case_reference audit.reference,
  user_reference audit.reference,
  check (pepper_version is not null or (nik_digest is null and name_digest is null)),
  check (route = 'list' or nik_digest is not null or name_digest is not null),
  check (route not like 'subject-%' or (purpose is not null and user_reference is not null))
) partition by range (id);

-- The reads that showed a resident. Readers append to its list of pending entries, and never merge them: the limit is 4 GB.
-- Autovacuum does, after a tenth or a million of new rows. More often would write more, as a merge writes a page for nearly
-- each id; a search reads through the list of 300,000 rows in 0.1 s.
create index resident_read_shown on audit.resident_read using gin (audit.decode_ids(shown))
  with (gin_pending_list_limit = 4194304);

-- The first two partitions; audit.extend_partitions makes the others.
create table audit.resident_read_0 partition of audit.resident_read for values from (0) to (100000000)
  with (autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 1000000,
    autovacuum_freeze_min_age = 0);
create table audit.resident_read_1 partition of audit.resident_read for values from (100000000) to (200000000)
  with (autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 1000000,
    autovacuum_freeze_min_age = 0);

create table audit.seal (
  id bigint primary key,
  -- covers all ids from the first to the last, including unused ones
  first_id bigint not null,
  last_id bigint not null,
  row_count integer not null,
  -- how its rows were hashed; see audit.describe_row
  format smallint not null,
  rows_digest bytea not null,
  digest bytea not null,
  sealed_at timestamptz not null default now(),
  -- when its rows were deleted because of their age
  expired_at timestamptz,
  -- when its digest was stored outside the database
  anchored_at timestamptz
);
create index seal_to_anchor on audit.seal (id) where anchored_at is null;

reset role;
