-- Walks: a partner that copies the residents reads each of them once, by id, and then only what has changed or was removed.
--
-- Changes are ordered by the transaction that made them, which each row stores. Transactions commit in another order than
-- they begin, so a page of changes ends before the oldest one that still runs: a long import delays changes, and loses none.
-- A page returns the current state of each resident that was changed in its range; later changes are in a later range.
--
-- A transaction id has its meaning in one history of one server. A cursor therefore names the audit row of the page that
-- returned it, the transaction that wrote that row, and its time. After a restore to an earlier time the row is missing, or
-- another read has the id, and perhaps the transaction id, as each read takes one of both: then the time differs. After a
-- restore of a dump, or on the subscriber of a logical replication, another transaction wrote it. Then the cursor has ended,
-- and the partner walks again. Rows that came with ids of another server do no harm: the walk shows them, and each later
-- change gives them an id of this one. Partners must not walk on a subscriber before it has become the only server.
--
-- pgcrypto is a trusted extension, like pg_trgm.
create extension pgcrypto with schema extension;

set role municipal_owner;

alter table resident.resident add column changed_in xid8 not null default pg_current_xact_id();
create index resident_changed on resident.resident (changed_in, id);

-- The last removal of each resident: one who was brought back and removed again is told once.
create table resident.removal (
  resident_id bigint primary key,
  removed_in xid8 not null default pg_current_xact_id(),
  removed_at timestamptz not null default clock_timestamp()
);
create index removal_in_order on resident.removal (removed_in, resident_id);
create index removal_by_age on resident.removal (removed_at);

create function resident.stamp_change() returns trigger
language plpgsql as $$
begin
  new.changed_in := pg_current_xact_id();
  return new;
end
$$;

create function resident.note_removal() returns trigger
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp as $$
begin
  insert into resident.removal (resident_id) select id from old_rows on conflict (resident_id) do update
  set removed_in = excluded.removed_in, removed_at = excluded.removed_at;
  return null;
end
$$;

-- New rows have the default: with a trigger before them, COPY would store one row at a time. To insert a row again
-- that was deleted before, leave the column out.
create trigger stamp_change before update on resident.resident
for each row execute function resident.stamp_change();
create trigger note_removal after delete on resident.resident
referencing old table as old_rows for each statement execute function resident.note_removal();
alter table resident.resident enable always trigger stamp_change;
alter table resident.resident enable always trigger note_removal;

-- How long a walk may take, and how old the changes may be that a partner asks for. Removals are stored a day longer, as
-- a transaction may have begun before the page that did not see it.
create function resident.walk_limit() returns interval language sql immutable return interval '90 days';

-- For maintenance.
create function resident.expire_removals(most integer) returns integer
language sql volatile security definer
set search_path = resident, pg_temp
begin atomic
  with gone as (
    delete from resident.removal where resident_id in (
      select resident_id from resident.removal
      where removed_at < now() - resident.walk_limit() - interval '1 day'
      order by removed_at limit most for update skip locked)
    returning 1
  )
  select count(*)::integer from gone;
end;

-- The keys of a partner that has walked.
create table resident.walker (
  partner_id text primary key check (partner_id <> ''),
  -- makes its ids of residents, which another partner cannot join with its own
  id_key bytea not null default extension.gen_random_bytes(32),
  -- encrypts its cursors, which contain ids of the database
  cipher_key bytea not null default extension.gen_random_bytes(32),
  -- signs its cursors
  mac_key bytea not null default extension.gen_random_bytes(32)
);

-- 96 bits: ten million residents share one with a probability of 10^-15.
create function resident.pseudonym(id bigint, key bytea) returns text
language sql immutable
return translate(encode(substr(extension.hmac(int8send(id), key, 'sha256'), 1, 12), 'base64'), '+/', '-_');

-- base64 without padding and line breaks, for URLs and JSON
create function resident.to_base64url(content bytea) returns text
language sql immutable
return translate(encode(content, 'base64'), E'+/=\n', '-_');

-- Returns null for a text that to_base64url does not return.
create function resident.from_base64url(code text) returns bytea
language plpgsql immutable
set search_path = resident, pg_temp as $$
declare
  content bytea;
begin
  if code ~ '^[A-Za-z0-9_-]+$' and length(code) % 4 <> 1 then
    content := decode(rpad(translate(code, '-_', '+/'), (length(code) + 3) / 4 * 4, '='), 'base64');
    -- bits of the last character are not decoded, and could be changed
    if resident.to_base64url(content) = code then
      return content;
    end if;
  end if;
  return null;
end
$$;

-- Encrypts, then signs.
create function resident.seal_cursor(place resident.cursor, keys resident.walker) returns text
language plpgsql volatile
set search_path = resident, pg_temp
set timezone = 'UTC'
as $$
declare
  iv constant bytea := extension.gen_random_bytes(16);
  sealed constant bytea := iv || extension.encrypt_iv(convert_to(place::text, 'UTF8'), keys.cipher_key, iv, 'aes');
begin
  return resident.to_base64url(sealed || extension.hmac(sealed, keys.mac_key, 'sha256'));
end
$$;

-- Returns null for a text that seal_cursor has not returned with these keys. Compares digests of the signatures, so that timing
-- reveals nothing about them.
create function resident.open_cursor(code text, keys resident.walker) returns resident.cursor
language plpgsql stable
set search_path = resident, pg_temp
as $$
declare
  content constant bytea := resident.from_base64url(code);
  sealed constant bytea := substr(content, 1, greatest(length(content) - 32, 0));
begin
  if keys.partner_id is null or length(content) <= 48 is not false
    or sha256(substr(content, length(content) - 31)) <> sha256(extension.hmac(sealed, keys.mac_key, 'sha256'))
  then
    return null;
  end if;
  return convert_from(
    extension.decrypt_iv(substr(sealed, 17), keys.cipher_key, substr(sealed, 1, 16), 'aes'), 'UTF8')::resident.cursor;
end
$$;

-- Returns the place where a page begins. Fails if a cursor is not the partner's or of the other kind, and if it has ended:
-- by its age, or because its page belongs to another history of the database.
create function resident.begin_walk(partner text, after text, changed_since text) returns resident.cursor
language plpgsql volatile
set search_path = resident, pg_temp as $$
declare
  place resident.cursor;
begin
  if after is not null and changed_since is not null then
    raise exception using errcode = 'invalid_parameter_value', message = 'a walk has one cursor';
  end if;
  if after = 'start' then
    insert into resident.walker (partner_id) values (partner) on conflict do nothing;
    place.kind := 'walk';
    place.number := 1;
    place.past_id := 0;
    return place;
  end if;
  place := resident.open_cursor(
    coalesce(after, changed_since), (select w from resident.walker w where w.partner_id = partner));
  if place.kind is null or (place.kind = 'since') <> (after is null) then
    raise exception using errcode = 'MI440', message = 'no cursor of the partner',
      detail = case when after is null then 'changed_since' else 'after' end;
  end if;
  if coalesce(place.since, place.until) < now() - resident.walk_limit() or not exists (
    select from audit.resident_read r
    where r.id = place.read_id and r.xmin = place.read_in::xid and r.read_at = place.read_at)
  then
    raise exception using errcode = 'MI441', message = 'the walk has ended';
  end if;
  return place;
end
$$;

-- Reads the page that begins at a place; returns the ids of its residents for the audit, and the next place. STABLE: all from
-- one snapshot.
create function resident.walk(
  place resident.cursor, partner text, page_size integer, fields text[], out page resident.page, out ids bigint[],
  out next resident.cursor
)
language plpgsql stable
set search_path = resident, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  key constant bytea := (select w.id_key from resident.walker w where w.partner_id = partner);
  changes xid8[];
  gone boolean[];
begin
  next := place;
  next.number := place.number + 1;
  if place.until_change is null then
    next.until_change := pg_snapshot_xmin(pg_current_snapshot());
    next.until := clock_timestamp();
  end if;
  -- one row more than the page has, which tells whether it is the last
  if place.kind = 'walk' then
    ids := array(select id from resident.resident where id > place.past_id order by id limit page_size + 1);
  else
    next.kind := 'changes';
    select array_agg(found.change order by found.change, found.id), array_agg(found.id order by found.change, found.id),
      array_agg(found.is_gone order by found.change, found.id)
    into changes, ids, gone
    from (
      (
        select r.changed_in as change, r.id, false as is_gone from resident.resident r
        where (r.changed_in, r.id) > (place.past_change, place.past_id) and r.changed_in < next.until_change
        order by r.changed_in, r.id limit page_size + 1
      )
      union all
      (
        -- a resident that was brought back is a change
        select r.removed_in, r.resident_id, true from resident.removal r
        where (r.removed_in, r.resident_id) > (place.past_change, place.past_id) and r.removed_in < next.until_change
          and not exists (select from resident.resident present where present.id = r.resident_id)
        order by r.removed_in, r.resident_id limit page_size + 1
      )
      order by change, id limit page_size + 1
    ) found;
  end if;
  if cardinality(ids) > page_size then
    next.past_change := changes[page_size];
    next.past_id := ids[page_size];
    ids := ids[:page_size];
    gone := gone[:page_size];
  else
    next := row('since', 1, next.until_change, 0, null, null, next.until, null, null, null);
  end if;
  page.total := resident.count_all();
  page.number := place.number;
  page.removed := coalesce((
    select json_agg(resident.pseudonym(id, key)) from unnest(ids, gone) found (id, is_gone) where is_gone), '[]');
  ids := array(
    select id from unnest(ids, gone) with ordinality found (id, is_gone, place)
    where is_gone is not true order by found.place);
  page.residents := resident.show(ids, fields);
  page.ids := coalesce((
    select json_agg(resident.pseudonym(id, key) order by found.place)
    from unnest(ids) with ordinality found (id, place)), '[]');
end
$$;

-- Adds to a page what the partner sends next. The cursor names the audit row of the page.
create function resident.add_cursor(page resident.page, next resident.cursor, partner text, read_id bigint)
returns resident.page
language plpgsql volatile
set search_path = resident, pg_temp as $$
declare
  code text;
begin
  next.read_id := read_id;
  next.read_in := pg_current_xact_id();
  next.read_at := now();
  code := resident.seal_cursor(next, (select w from resident.walker w where w.partner_id = partner));
  if next.kind = 'since' then
    page.changed_since := code;
  else
    page.after := code;
  end if;
  return page;
end
$$;

grant execute on function resident.expire_removals to municipal_maintenance;

reset role;
