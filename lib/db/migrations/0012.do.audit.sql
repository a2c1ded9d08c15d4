-- The audit: one row for each read of resident data, written by resident.list and resident.search.
--
-- The rows are sealed in batches: each seal is a hash over its rows and over the previous seal, so that a row that is
-- removed, changed or inserted later is detected. A chain from row to row would make readers queue. An administrator
-- of the database could seal anew; therefore upkeep writes each seal's digest to the log, outside the database, and
-- `npm run audit -- verify` compares with a digest from there.
set role municipal_owner;

-- Searched terms are stored as HMACs with a pepper from outside the database.
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

create table audit.seal (
  id bigint primary key,
  -- it covers every id from the first to the last, also those that no row has
  first_id bigint not null,
  last_id bigint not null,
  row_count integer not null,
  rows_digest bytea not null,
  digest bytea not null,
  sealed_at timestamptz not null default now(),
  -- since when its rows are gone because of their age
  expired_at timestamptz
);

create function audit.age_limit() returns interval language sql immutable return interval '5 years';

-- The rows of a range as one hash; digests and times in a form that no setting changes.
create function audit.digest_rows(first_id bigint, last_id bigint, out row_count integer, out rows_digest bytea)
language sql stable
begin atomic
  select count(*), sha256(convert_to(coalesce(string_agg(json_build_array(
      id, to_char(read_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), partner_id, key_id, request_id, route,
      encode(nik_digest, 'hex'), encode(name_digest, 'hex'), pepper_version, r.row_count)::text,
      chr(10) order by id), ''), 'UTF8'))
  from audit.resident_read r where id between digest_rows.first_id and digest_rows.last_id;
end;

create function audit.digest_seal(previous bytea, seal audit.seal) returns bytea
language sql immutable
return sha256(coalesce(previous, '') || (seal).rows_digest || convert_to(
  json_build_array((seal).id, (seal).first_id, (seal).last_id, (seal).row_count)::text, 'UTF8'));

-- The id up to which no more rows can appear: ids are assigned before their transactions end. Waits for the reads
-- in progress, some milliseconds, and new ones wait too; gives up after 0.1 s. The lock ends with the transaction,
-- so it must be the only statement in it.
create function audit.find_settled_id() returns bigint
language plpgsql volatile security definer
set search_path = audit, pg_temp
set lock_timeout = '100ms'
as $$
begin
  lock table audit.resident_read in share row exclusive mode;
  return coalesce((select max(id) from audit.resident_read), 0);
exception when lock_not_available then
  return 0;
end
$$;

-- Seals the next rows, at most `most`; fewer than `least_rows` only if the oldest has waited for ten minutes.
create function audit.seal_reads(settled_id bigint, most integer, least_rows integer)
returns table (id bigint, row_count integer, digest text)
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
  lock table audit.seal in share row exclusive mode;
  select * into previous from audit.seal order by id desc limit 1;
  fresh.id := coalesce(previous.id, 0) + 1;
  fresh.first_id := coalesce(previous.last_id, 0) + 1;
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
  insert into audit.seal (id, first_id, last_id, row_count, rows_digest, digest)
  values (fresh.id, fresh.first_id, fresh.last_id, fresh.row_count, fresh.rows_digest,
    audit.digest_seal(previous.digest, fresh));
  return query select s.id, s.row_count, encode(s.digest, 'hex') from audit.seal s where s.id = fresh.id;
end
$$;

-- Deletes the rows of the oldest seal if they are older than five years; the seal stays, for the chain.
create function audit.expire_reads() returns integer
language plpgsql volatile security definer
set search_path = audit, pg_temp as $$
declare
  oldest audit.seal;
  gone integer;
begin
  select * into oldest from audit.seal where expired_at is null order by id limit 1 for update;
  if oldest.sealed_at > now() - audit.age_limit() is not false then
    return 0;
  end if;
  delete from audit.resident_read where id between oldest.first_id and oldest.last_id;
  get diagnostics gone = row_count;
  update audit.seal set expired_at = now() where id = oldest.id;
  return gone;
end
$$;

-- Checks the next `most` seals after the given one; `problem` is null if a seal is sound.
create function audit.verify_seals(after_id bigint, most integer)
returns table (id bigint, digest text, problem text)
language sql stable security definer
set search_path = audit, pg_temp
begin atomic
  with chain as (
    select s as seal, lag(s.id, 1, 0::bigint) over w + 1 as next_id, lag(s.last_id, 1, 0::bigint) over w + 1 as next_first_id,
      lag(s.digest) over w as previous
    from audit.seal s where s.id >= after_id
    window w as (order by s.id)
  )
  select (c.seal).id, encode((c.seal).digest, 'hex'), case
    when (c.seal).id <> c.next_id or (c.seal).first_id <> c.next_first_id then 'the seal before it is missing'
    when (c.seal).digest <> audit.digest_seal(c.previous, c.seal) then 'the seal was changed'
    when (c.seal).expired_at is not null and (c.seal).expired_at < (c.seal).sealed_at + audit.age_limit()
      then 'its rows were removed before their time'
    when (c.seal).expired_at is null and d.row_count <> (c.seal).row_count
      then format('it sealed %s rows, there are %s', (c.seal).row_count, d.row_count)
    when (c.seal).expired_at is null and d.rows_digest <> (c.seal).rows_digest then 'its rows were changed'
  end
  from chain c cross join lateral audit.digest_rows((c.seal).first_id, (c.seal).last_id) d
  where (c.seal).id > after_id
  order by (c.seal).id limit most;
end;

reset role;
