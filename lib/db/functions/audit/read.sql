-- The audit row of a read. Each read writes it in its own transaction: if that fails, no data is returned. The digests are HMACs of what
-- was looked for.
create or replace function audit.record_read(
  caller audit.caller, route text, row_count integer, shown_ids bigint[],
  nik_digest bytea default null, name_digest bytea default null, pepper_version integer default null,
  answers json default null
) returns void
language plpgsql volatile
set search_path = audit, pg_temp as $$
begin
  insert into audit.resident_read
    (partner_id, key_id, request_id, purpose, case_reference, user_reference,
      route, row_count, shown, nik_digest, name_digest, pepper_version, answers)
  values
    ((caller).partner_id, (caller).key_id, (caller).request_id, (caller).purpose, (caller).case_reference, (caller).user_reference,
      route, row_count, audit.encode_ids(shown_ids), nik_digest, name_digest, pepper_version, answers);
end
$$;

-- Encodes ids in few bytes: the lowest, and the steps from each to the next, each in as many bytes as the longest step
-- needs. The first byte has the bytes of the lowest id in its upper half, and those of a step in the lower one. No ids are
-- no bytes.
create or replace function audit.encode_ids(ids bigint[]) returns bytea
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

-- Lists the reads that showed a resident, newest first, at most `most`. Goes from partition to partition, so that the older
-- ones are not searched if the newer ones have enough. Leaves the planner only the index of what was shown: it cannot
-- estimate its matches, and would rather walk through the ids.
create or replace function audit.reads_of(resident_id bigint, most integer)
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
