-- Fails unless the purpose is one that the key's agreement has, or a well-formed one if it requires none. The detail
-- lists the codes of the agreement.
create or replace function resident.check_purpose(partner text, key text, purpose text) returns void
language plpgsql stable
set search_path = resident, pg_temp as $$
declare
  agreed constant text[] := (select k.purposes from partner.api_key k where k.id = key and k.partner_id = partner);
begin
  if purpose = any (agreed) is not true and agreed is not null
    or purpose !~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$' or purpose ~ '[0-9]{15}'
  then
    raise exception using errcode = 'MI400', message = 'no purpose of the agreement',
      detail = coalesce(array_to_string(agreed, ', '), '');
  end if;
end
$$;

create or replace function resident.daily_unknown_numbers() returns integer language sql immutable return 200;

-- In how many seconds there is room for this many more, when what was read longest ago is a day old.
create or replace function resident.seconds_to_room(partner text, agreed integer, room integer, of_unknown_numbers boolean) returns integer
language sql stable
set search_path = resident, pg_temp as $$
  select ceil(extract(epoch from max(since) + interval '1 day' - now()))::integer
  from (
    select since,
      sum(sum(case when of_unknown_numbers then unknown_numbers else residents end)) over (order by since desc) as since_then
    from resident.read_count where partner_id = partner and since > now() - interval '1 day' group by since
  ) spans
  where since_then + room > agreed
$$;

-- Fails with MI431 if the partner may not read `room` more residents today, and with MI429 if, searching by number, it has searched for
-- too many unknown numbers. The detail has the seconds until there is room. That of MI431 begins with how many residents are left, and
-- has no seconds for a page that is larger than the whole agreement, because waiting does not help.
create or replace function resident.check_reads(partner text, by_number boolean, room integer default 1, counted integer default 0)
returns bigint
language plpgsql volatile
set search_path = resident, pg_temp as $$
declare
  agreed constant integer := (select p.residents_per_day from partner.partner p where p.id = partner);
  made record;
  remaining bigint;
begin
  select coalesce(sum(residents), 0) as residents, coalesce(sum(unknown_numbers), 0) as unknown_numbers into made from resident.read_count
  where partner_id = partner and since > now() - interval '1 day';
  if made.residents + room > agreed then
    remaining := greatest(0, agreed - made.residents + counted);
    raise exception using errcode = 'MI431', message = 'more residents than agreed', detail = format('%s %s', remaining,
      case when counted <= agreed or remaining = 0 then resident.seconds_to_room(partner, agreed, room, false) end);
  end if;
  if by_number and made.unknown_numbers + room > resident.daily_unknown_numbers() then
    raise exception using errcode = 'MI429', message = 'too many searches for numbers that do not exist',
      detail = resident.seconds_to_room(partner, resident.daily_unknown_numbers(), room, true)::text;
  end if;
  return agreed - made.residents;
end
$$;

-- How many residents a partner has read within a day, for the operator who grants them.
create or replace function resident.count_read_by(partner text) returns integer
language sql stable security definer
set search_path = resident, pg_temp as $$
  select coalesce(sum(residents), 0)::integer from resident.read_count
  where partner_id = partner and since > now() - interval '1 day'
$$;

-- Counts a read, and fails if a limit has no room for it. Near one, it waits for other reads of the partner, so that
-- concurrent ones share what is left: a hundred at once read 10,000 residents. Above the agreed look-ups, it raises a
-- notice, which the calling function logs.
create or replace function resident.count_read(
  partner text, key text, shown integer, skipped bigint, by_number boolean default false, is_unknown boolean default false
) returns void
language plpgsql volatile
set search_path = resident, pg_temp as $$
declare
  this_span constant timestamptz := date_bin('10 minutes', now(), 'epoch');
  looked_up constant integer := case when by_number then 1 else greatest(0, least(shown, skipped + shown - 100)) end;
  read constant integer := greatest(shown, looked_up);
  agreed integer;
  made integer;
begin
  update resident.read_count
  set residents = residents + read, look_ups = look_ups + looked_up, unknown_numbers = unknown_numbers + is_unknown::integer
  where id = (
    select id from resident.read_count where partner_id = partner and since = this_span limit 1 for update skip locked);
  if not found then
    insert into resident.read_count (partner_id, since, residents, look_ups, unknown_numbers)
    values (partner, this_span, read, looked_up, is_unknown::integer);
  end if;
  if resident.check_reads(partner, is_unknown, 0, read) < 10000 or is_unknown then
    perform pg_advisory_xact_lock(7206315 /* partnerReads */, hashtext(partner));
    perform resident.check_reads(partner, is_unknown, 0, read);
  end if;
  if looked_up > 0 then
    agreed := (select 10 * p.look_ups_per_minute from partner.partner p where p.id = partner);
    made := (select sum(look_ups) from resident.read_count where partner_id = partner and since = this_span);
    if made > agreed then
      raise notice using errcode = 'MI202', message = 'more read than agreed', detail = json_build_object(
        'partner_id', partner, 'key_id', key, 'look_ups', made, 'agreed', agreed);
    end if;
  end if;
end
$$;

grant execute on function resident.count_read_by to municipal_partner_admin;
