-- The rows are sealed in batches: each seal is a hash over its rows and over the previous seal, so that a row that is
-- removed, changed or inserted later is detected. A chain of single rows would make readers wait for each other. An
-- administrator of the database could recompute the seals; therefore maintenance also stores each digest outside the
-- database, as an anchor that nobody can change, for `npm run city -- audit verify`.

-- How rows are hashed now. A new column gets a new format, with which older seals stay valid.
create or replace function audit.seal_format() returns smallint language sql immutable return 1::smallint;

-- A row as it is hashed in a format; null for one that this release does not know.
create or replace function audit.describe_row(r audit.resident_read, format smallint) returns text
language sql stable
return case format when 1 then json_build_array(
  (r).id, to_char((r).read_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), (r).partner_id, (r).key_id, (r).request_id,
  (r).route, encode((r).nik_digest, 'hex'), encode((r).name_digest, 'hex'), (r).pepper_version, (r).row_count, (r).answers,
  (r).purpose, (r).case_reference, (r).user_reference, encode((r).shown, 'hex'))::text end;

-- Hashes the rows of a range; the format of digests and times does not depend on settings.
create or replace function audit.digest_rows(
  first_id bigint, last_id bigint, format smallint, out row_count integer, out rows_digest bytea)
language sql stable
begin atomic
  select count(*), sha256(convert_to(coalesce(string_agg(audit.describe_row(r, digest_rows.format), chr(10) order by id), ''), 'UTF8'))
  from audit.resident_read r where id between digest_rows.first_id and digest_rows.last_id;
end;

-- Covers everything that verify_seals believes; only whether the rows have expired and the seal is anchored is stored
-- beside it.
create or replace function audit.digest_seal(previous bytea, seal audit.seal) returns bytea
language sql immutable
return sha256(coalesce(previous, '') || (seal).rows_digest || convert_to(
  json_build_array((seal).id, (seal).first_id, (seal).last_id, (seal).row_count, (seal).format,
    to_char((seal).sealed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'))::text, 'UTF8'));

-- Returns the id up to which no more rows can appear. A transaction locks the table before it takes an id from the
-- sequence, and holds the lock until it ends. Rows before the newest visible one can therefore only come from
-- transactions that hold the lock now. Waits for those, usually some milliseconds, and returns 0 after a second.
-- Takes no lock: sealing neither waits for VACUUM nor blocks readers.
create or replace function audit.find_settled_id() returns bigint
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
create or replace function audit.seal_reads(settled_id bigint, most integer, least_rows integer)
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
  fresh.format := audit.seal_format();
  select d.row_count, d.rows_digest into fresh.row_count, fresh.rows_digest
  from audit.digest_rows(fresh.first_id, fresh.last_id, fresh.format) d;
  fresh.digest := audit.digest_seal(previous.digest, fresh);
  insert into audit.seal select fresh.*;
  return query select fresh.id, fresh.row_count;
end
$$;

-- Returns the next seals that have no anchor yet.
create or replace function audit.list_unanchored(most integer) returns table (id bigint, digest text)
language sql stable security definer
set search_path = audit, pg_temp
begin atomic
  select s.id, encode(s.digest, 'hex') from audit.seal s where s.anchored_at is null order by s.id limit most;
end;

-- Records that the anchor of a seal is stored.
create or replace function audit.record_anchor(seal_id bigint) returns void
language sql volatile security definer
set search_path = audit, pg_temp
begin atomic
  update audit.seal set anchored_at = now() where id = seal_id;
end;

-- Verifies the next `most` seals after the given one; `problem` is null for a valid seal. `has_anchor` says whether the
-- seal must have an anchor: an administrator of the database can pretend that one is still to come, but not for long.
create or replace function audit.verify_seals(after_id bigint, most integer)
returns table (id bigint, digest text, has_anchor boolean, problem text)
language sql stable security definer
set search_path = audit, pg_temp
begin atomic
  with chain as (
    select s as seal, lag(s.id, 1, 0::bigint) over w + 1 as next_id, lag(s.last_id, 1, 0::bigint) over w + 1 as next_first_id,
      lag(s.digest) over w as previous
    from audit.seal s where s.id >= after_id
    window w as (order by s.id)
  ), next as materialized (
    -- limited before any row is read: else all rows of the audit would be
    select * from chain where (seal).id > after_id order by (seal).id limit most
  )
  select (c.seal).id, encode((c.seal).digest, 'hex'),
    (c.seal).anchored_at is not null or (c.seal).sealed_at < now() - interval '1 hour', case
    when (c.seal).id <> c.next_id or (c.seal).first_id <> c.next_first_id then 'the seal before it is missing'
    when (c.seal).digest <> audit.digest_seal(c.previous, c.seal) then 'the seal was changed'
    when (c.seal).format > audit.seal_format() then 'a later release made it: verify it with that one'
    when (c.seal).expired_at is not null and now() < (c.seal).sealed_at + audit.age_limit()
      then 'its rows were removed before their time'
    when (c.seal).expired_at is null and d.row_count <> (c.seal).row_count
      then format('it sealed %s rows, there are %s', (c.seal).row_count, d.row_count)
    when (c.seal).expired_at is null and d.rows_digest <> (c.seal).rows_digest then 'its rows were changed'
  end
  from next c cross join lateral audit.digest_rows((c.seal).first_id, (c.seal).last_id, (c.seal).format) d
  order by (c.seal).id;
end;

grant execute on function audit.find_settled_id, audit.seal_reads, audit.list_unanchored, audit.record_anchor,
  audit.verify_seals to municipal_maintenance;
