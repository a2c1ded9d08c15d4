-- Lets a list of messages end before those whose transactions have not committed: a later one may commit first, and a page
-- that had passed the earlier ones would never show them. Each insert holds a lock until its transaction ends, whose number
-- is, beyond this offset, below every seq that it takes afterwards. See lib/messenger/outbox/list.ts.
create or replace function messaging.announce_insert() returns trigger
language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared((7206309::bigint /* messageInsert */ << 40) + last_value) from messaging.message_seq_seq;
  return null;
end $$;
create or replace trigger announce_insert before insert on messaging.message
for each statement execute function messaging.announce_insert();

-- Returns a number below every seq that an insert in progress has taken or may take; null if there is none.
create or replace function messaging.first_insert() returns bigint
language sql volatile
return (
  select min((classid::bigint << 32) + objid::bigint) - (7206309::bigint /* messageInsert */ << 40)
  from pg_locks
  where locktype = 'advisory' and objsubid = 1 and classid::bigint >> 8 = 7206309 /* messageInsert */
    and database = (select oid from pg_database where datname = current_database()));

-- The text of a one-time code is needed until the message was composed for its last channel, and its payload until it was
-- delivered; neither of a message that was cancelled.
create or replace function messaging.drop_code() returns trigger
language plpgsql as $$
begin
  if new.state not in ('SENT', 'UNCERTAIN') or not messaging.has_next_channel(new.pool, new.account) then
    new.content := new.content - 'sealed';
  end if;
  if new.state in ('DELIVERED', 'READ', 'CANCELLED') then
    delete from messaging.payload where seq = new.seq;
  end if;
  return new;
end $$;
create or replace trigger drop_code before update of state on messaging.message
for each row when (new.priority = 0 and new.state not in ('PENDING', 'SENDING'))
execute function messaging.drop_code();

-- Prepares a database that was restored from a backup, once for each backup. Sending is paused: messages that wait may have
-- been sent after the backup. The sessions with phones are deleted: phones have seen later keys of each session and could
-- not decrypt what is encrypted with these again; new ones begin with the next message. Returns whether anything was done.
create or replace function messaging.hold_restored(backup text) returns boolean
language sql volatile
begin atomic
  with held as (
    update messaging.control
    set restored_from = backup, paused = true, paused_at = coalesce(paused_at, now())
    where restored_from is distinct from backup
    returning 1
  ), sessions as (
    delete from messaging.auth_key where type = 'session' and exists (select from held)
  )
  select exists (select from held);
end;

-- Returns the end of the quiet hours that contain a moment, or null. `at time zone` handles daylight saving time: an
-- end in a skipped hour becomes the moment of the change.
create or replace function messaging.quiet_until(hours jsonb, moment timestamptz) returns timestamptz
language sql stable
return (
  select case
    when "from" < "to" and now_there::time >= "from" and now_there::time < "to" then now_there::date + "to"
    when "from" > "to" and now_there::time >= "from" then now_there::date + 1 + "to"
    when "from" > "to" and now_there::time < "to" then now_there::date + "to"
  end at time zone zone
  from (
    select moment at time zone (hours ->> 'time_zone') as now_there, hours ->> 'time_zone' as zone,
      (hours ->> 'from')::time as "from", (hours ->> 'to')::time as "to") window_there);

-- Finds those of the numbers that have a message of a run, also when the Idempotency-Keys have expired.
create or replace function messaging.find_in_run(wanted uuid, numbers text[]) returns table (phone text, id text)
language sql stable security definer
set search_path = messaging, pg_temp
begin atomic
  select phone, id from messaging.message where run = wanted and phone = any (numbers);
end;

-- Whether an earlier send of a message that waits may have reached the phone.
create or replace function messaging.may_have_arrived(m messaging.message) returns boolean
language sql stable
return exists (
  select from messaging.payload p
  where p.seq = m.seq and (p.may_have_left or (m.attempts > m.failed_early
    and p.channel = (select a.channel from messaging.account a where a.id = m.account))));

-- Lists a person's numbers: the platform may have another one than the senders, such as a Brazilian one without its ninth
-- digit. Sorted, so that two commits that change them all do not deadlock.
create or replace function messaging.list_numbers(wanted text) returns setof text
language sql stable security definer
set search_path = messaging, pg_temp
begin atomic
  with own as (
    select wanted || '@s.whatsapp.net' as address
    union select address from messaging.number_check where phone = wanted and address like '%@s.whatsapp.net'
  )
  select wanted union select split_part(address, '@', 1) from own
  union select n.phone from messaging.number_check n join own using (address)
    where n.address <> n.phone || '@s.whatsapp.net'
  order by 1;
end;

-- Ends the reminders and bulk messages that wait for numbers that opt out. The sender ends those that are being sent, unless
-- their frame has left.
create or replace function messaging.end_unwanted(numbers text[]) returns void
language sql volatile security definer
set search_path = messaging, pg_temp
begin atomic
  update messaging.message
  set state = case when messaging.may_have_arrived(message) then 'UNCERTAIN' else 'FAILED' end,
    reason = 'the recipient has opted out', changed_at = now()
  where seq = any (array(
    select seq from messaging.message
    -- reminder, bulk
    where is_open and state = 'PENDING' and priority >= 2 and phone = any (numbers)
    -- as lockedInOrder in lib/messenger/outbox/message.ts
    order by seq + 0 for update));
end;

grant execute on function messaging.quiet_until, messaging.first_insert, messaging.may_have_arrived,
  messaging.find_in_run to municipal_messenger;
grant execute on function messaging.list_numbers, messaging.end_unwanted to municipal_messenger, municipal_notify;
