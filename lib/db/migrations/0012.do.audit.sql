-- The audit: one row for each read of resident data, written by resident.list, resident.search and resident.verify.
--
-- The rows are sealed in batches: each seal is a hash over its rows and over the previous seal, so that a row that is
-- removed, changed or inserted later is detected. A chain of single rows would make readers wait for each other. An
-- administrator of the database could recompute the seals; therefore maintenance also stores each digest outside the
-- database, as an anchor that nobody can change, for `npm run city -- audit verify`.
set role municipal_owner;

-- not an identity column, which partitions support from PostgreSQL 17 on
create sequence audit.resident_read_id;

-- A reference of the partner: opaque. A run of 15 digits could be the number of a person.
create domain audit.reference as text check (value ~ '^[ -~]{1,100}$' and value !~ '[0-9]{15}');

create function audit.count_bytes(number bigint) returns integer
language sql immutable parallel safe
return greatest(1, octet_length(ltrim(int8send(number), '\x00')));

-- Encodes ids in few bytes: the lowest, and the steps from each to the next, each in as many bytes as the longest step
-- needs. The first byte has the bytes of the lowest id in its upper half, and those of a step in the lower one. No ids are
-- no bytes.
create function audit.encode_ids(ids bigint[]) returns bytea
language plpgsql immutable parallel safe as $$
declare
  ordered constant bigint[] := array(select id from unnest(ids) id order by id);
  longest bigint := 0;
  id_bytes integer;
  step_bytes integer;
  encoded bytea := '';
begin
  if ordered = '{}' then
    return encoded;
  end if;
  for place in 2..cardinality(ordered) loop
    longest := greatest(longest, ordered[place] - ordered[place - 1]);
  end loop;
  id_bytes := audit.count_bytes(ordered[1]);
  step_bytes := audit.count_bytes(longest);
  encoded := set_byte('\x00', 0, id_bytes * 16 + step_bytes) || substr(int8send(ordered[1]), 9 - id_bytes);
  for place in 2..cardinality(ordered) loop
    encoded := encoded || substr(int8send(ordered[place] - ordered[place - 1]), 9 - step_bytes);
  end loop;
  return encoded;
end
$$;

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

-- Ids per partition, about 22 GB. Partition n begins at id n * width.
create function audit.partition_width() returns bigint language sql immutable return 100000000;

-- Creates the next partition ahead of time: at 50 reads a second one lasts 23 days. If the first row of the current
-- partition is more than a month old, the sequence skips to the next one, so that a small city's rows expire at most a
-- month late. Returns the number of partitions created.
create function audit.extend_partitions() returns integer
language plpgsql volatile security definer
set search_path = audit, pg_temp
set lock_timeout = '3s'
as $$
declare
  width constant bigint := audit.partition_width();
  last_id constant bigint := (select last_value from audit.resident_read_id);
  present constant bigint := last_id / width;
  made integer := 0;
begin
  for number in present .. present + 1 loop
    continue when to_regclass(format('audit.resident_read_%s', number)) is not null;
    -- CREATE TABLE … PARTITION OF would block readers; ATTACH does not. Rows are never updated, so the first vacuum
    -- freezes them and none has to read them again to prevent wraparound.
    execute format('create table audit.resident_read_%s (like audit.resident_read including all)
      with (autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 1000000,
        autovacuum_freeze_min_age = 0)', number);
    execute format('alter table audit.resident_read attach partition audit.resident_read_%s
      for values from (%s) to (%s)', number, number * width, (number + 1) * width);
    made := made + 1;
  end loop;
  -- not near the end of the range: readers could pass it before setval, which would then hand out ids again
  if made = 0 and last_id % width < width - 1000000 and now() - interval '1 month' > (
    select read_at from audit.resident_read where id >= present * width order by id limit 1)
  then
    perform setval('audit.resident_read_id', (present + 1) * width, false);
  end if;
  return made;
end
$$;
select audit.extend_partitions();

create table audit.seal (
  id bigint primary key,
  -- covers all ids from the first to the last, including unused ones
  first_id bigint not null,
  last_id bigint not null,
  row_count integer not null,
  rows_digest bytea not null,
  digest bytea not null,
  sealed_at timestamptz not null default now(),
  -- when its rows were deleted because of their age
  expired_at timestamptz,
  -- when its digest was stored outside the database
  anchored_at timestamptz
);
create index seal_to_anchor on audit.seal (id) where anchored_at is null;

create function audit.age_limit() returns interval language sql immutable return interval '5 years';

-- Hashes the rows of a range; the format of digests and times does not depend on settings.
create function audit.digest_rows(first_id bigint, last_id bigint, out row_count integer, out rows_digest bytea)
language sql stable
begin atomic
  select count(*), sha256(convert_to(coalesce(string_agg(json_build_array(
      id, to_char(read_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), partner_id, key_id, request_id, route,
      encode(nik_digest, 'hex'), encode(name_digest, 'hex'), pepper_version, r.row_count, answers,
      purpose, case_reference, user_reference, encode(shown, 'hex'))::text,
      chr(10) order by id), ''), 'UTF8'))
  from audit.resident_read r where id between digest_rows.first_id and digest_rows.last_id;
end;

-- Covers everything that verify_seals believes; only whether the rows have expired and the seal is anchored is stored
-- beside it.
create function audit.digest_seal(previous bytea, seal audit.seal) returns bytea
language sql immutable
return sha256(coalesce(previous, '') || (seal).rows_digest || convert_to(
  json_build_array((seal).id, (seal).first_id, (seal).last_id, (seal).row_count,
    to_char((seal).sealed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'))::text, 'UTF8'));

-- Returns the id up to which no more rows can appear. A transaction locks the table before it takes an id from the
-- sequence, and holds the lock until it ends. Rows before the newest visible one can therefore only come from
-- transactions that hold the lock now. Waits for those, usually some milliseconds, and returns 0 after a second.
-- Takes no lock: sealing neither waits for VACUUM nor blocks readers.
create function audit.find_settled_id() returns bigint
language plpgsql volatile security definer
set search_path = audit, pg_temp as $$
declare
  newest constant bigint := (select max(id) from audit.resident_read);
  writers constant text[] := array(
    select virtualtransaction from pg_locks l join pg_database d on d.oid = l.database
    where d.datname = current_database() and l.relation = 'audit.resident_read'::regclass
      and l.mode = 'RowExclusiveLock');
begin
  for attempt in 1..100 loop
    if not exists (select from pg_locks where virtualtransaction = any (writers)) then
      return coalesce(newest, 0);
    end if;
    perform pg_sleep(0.01);
  end loop;
  return 0;
end
$$;

-- Seals the next rows, at most `most`; fewer than `least_rows` only if the oldest is older than ten minutes. Of
-- two concurrent runs, one fails on the primary key of seals.
create function audit.seal_reads(settled_id bigint, most integer, least_rows integer)
returns table (id bigint, row_count integer)
language plpgsql volatile security definer
set search_path = audit, pg_temp
as $$
#variable_conflict use_column
declare
  previous audit.seal;
  fresh audit.seal;
  waiting integer;
  since timestamptz;
begin
  select * into previous from audit.seal order by id desc limit 1;
  fresh.id := coalesce(previous.id, 0) + 1;
  fresh.first_id := coalesce(previous.last_id, 0) + 1;
  fresh.sealed_at := now();
  select count(*), max(id), min(read_at) into waiting, fresh.last_id, since
  from (
    select id, read_at from audit.resident_read
    where id between fresh.first_id and settled_id order by id limit most
  ) batch;
  if waiting = 0 or (waiting < least_rows and since > now() - interval '10 minutes') then
    return;
  end if;
  select d.row_count, d.rows_digest into fresh.row_count, fresh.rows_digest
  from audit.digest_rows(fresh.first_id, fresh.last_id) d;
  fresh.digest := audit.digest_seal(previous.digest, fresh);
  insert into audit.seal select fresh.*;
  return query select fresh.id, fresh.row_count;
end
$$;

-- Returns the next seals that have no anchor yet.
create function audit.list_unanchored(most integer) returns table (id bigint, digest text)
language sql stable security definer
set search_path = audit, pg_temp
begin atomic
  select s.id, encode(s.digest, 'hex') from audit.seal s where s.anchored_at is null order by s.id limit most;
end;

-- Records that the anchor of a seal is stored.
create function audit.record_anchor(seal_id bigint) returns void
language sql volatile security definer
set search_path = audit, pg_temp
begin atomic
  update audit.seal set anchored_at = now() where id = seal_id;
end;

-- Drops the oldest partition once all its seals are older than five years. The seals stay, for the chain. The last one
-- may extend into the next partition; its rows there stay until that partition is dropped. DROP blocks new readers
-- while it waits for current ones, so it gives up after 0.1 s. Returns the number of rows in the expired seals.
create function audit.expire_reads() returns integer
language plpgsql volatile security definer
set search_path = audit, pg_temp
set lock_timeout = '100ms'
as $$
declare
  width constant bigint := audit.partition_width();
  oldest record;
  newest audit.seal;
  gone integer;
begin
  select inhrelid::regclass as name, (substring(relname from '[0-9]+$')::bigint + 1) * width as end_id into oldest
  from pg_inherits join pg_class c on c.oid = inhrelid where inhparent = 'audit.resident_read'::regclass
  order by end_id limit 1;
  select * into newest from audit.seal where first_id < oldest.end_id order by id desc limit 1;
  if oldest.end_id > (select last_value from audit.resident_read_id)
    or newest.sealed_at > now() - audit.age_limit() is not false
    or exists (select from audit.resident_read where id > newest.last_id and id < oldest.end_id)
  then
    return 0;
  end if;
  execute format('drop table %s', oldest.name);
  with expired as (
    update audit.seal set expired_at = now() where id <= newest.id and expired_at is null returning row_count
  )
  select coalesce(sum(row_count), 0) into gone from expired;
  return gone;
exception when lock_not_available then
  return 0;
end
$$;

-- Verifies the next `most` seals after the given one; `problem` is null for a valid seal. `has_anchor` says whether the
-- seal must have an anchor: an administrator of the database can pretend that one is still to come, but not for long.
create function audit.verify_seals(after_id bigint, most integer)
returns table (id bigint, digest text, has_anchor boolean, problem text)
language sql stable security definer
set search_path = audit, pg_temp
begin atomic
  with chain as (
    select s as seal, lag(s.id, 1, 0::bigint) over w + 1 as next_id, lag(s.last_id, 1, 0::bigint) over w + 1 as next_first_id,
      lag(s.digest) over w as previous
    from audit.seal s where s.id >= after_id
    window w as (order by s.id)
  )
  select (c.seal).id, encode((c.seal).digest, 'hex'),
    (c.seal).anchored_at is not null or (c.seal).sealed_at < now() - interval '1 hour', case
    when (c.seal).id <> c.next_id or (c.seal).first_id <> c.next_first_id then 'the seal before it is missing'
    when (c.seal).digest <> audit.digest_seal(c.previous, c.seal) then 'the seal was changed'
    when (c.seal).expired_at is not null and now() < (c.seal).sealed_at + audit.age_limit()
      then 'its rows were removed before their time'
    when (c.seal).expired_at is null and d.row_count <> (c.seal).row_count
      then format('it sealed %s rows, there are %s', (c.seal).row_count, d.row_count)
    when (c.seal).expired_at is null and d.rows_digest <> (c.seal).rows_digest then 'its rows were changed'
  end
  from chain c cross join lateral audit.digest_rows((c.seal).first_id, (c.seal).last_id) d
  where (c.seal).id > after_id
  order by (c.seal).id limit most;
end;

-- Lists the reads that showed a resident, newest first, at most `most`. Goes from partition to partition, so that the older
-- ones are not searched if the newer ones have enough. Leaves the planner only the index of what was shown: it cannot
-- estimate its matches, and would rather walk through the ids.
create function audit.reads_of(resident_id bigint, most integer)
returns table (
  id bigint, read_at timestamptz, partner_id text, key_id text, request_id text, route text, answers json,
  purpose text, case_reference text, user_reference text
)
language plpgsql stable security definer
set search_path = audit, pg_temp
set jit = off
set enable_seqscan = off
set enable_indexscan = off
as $$
declare
  part regclass;
  listed integer := 0;
  added integer;
begin
  for part in
    select inhrelid from pg_inherits join pg_class c on c.oid = inhrelid
    where inhparent = 'audit.resident_read'::regclass
    order by substring(relname from '[0-9]+$')::bigint desc
  loop
    exit when listed >= most;
    return query execute format(
      'select id, read_at, partner_id, key_id, request_id, route, answers, purpose::text, case_reference::text,
        user_reference::text
      from %s where audit.decode_ids(shown) @> array[$1] order by id desc limit $2', part)
    using resident_id, most - listed;
    get diagnostics added = row_count;
    listed := listed + added;
  end loop;
end
$$;

reset role;
