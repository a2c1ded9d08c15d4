-- The messenger: messages and their states, media, and the keys of its connection. Only municipal_messenger reads and
-- writes these tables; other roles may execute single functions.
set role municipal_owner;

-- An image or a file, in chunks of at most 1 MiB. Without a message, the upload was interrupted or the message ended.
create table messaging.media (
  id bigint generated always as identity primary key,
  sender text not null,
  content_type text not null,
  file_name text,
  size_bytes bigint not null default 0,
  created_at timestamptz not null default now()
);

create table messaging.media_chunk (
  media_id bigint not null references messaging.media on delete cascade,
  part integer not null,
  bytes bytea not null check (octet_length(bytes) between 1 and 1048576),
  primary key (media_id, part)
);
-- Media are already compressed.
alter table messaging.media_chunk alter column bytes set storage external;

create table messaging.message (
  -- the platform's message id, the same for every send
  id text primary key,
  -- order of acceptance
  seq bigint generated always as identity unique,
  -- such as api:<username> or notification
  sender text not null,
  kind text not null check (kind in ('text', 'image', 'file')),
  phone text not null check (phone ~ '^[1-9][0-9]{7,14}$'),
  -- text or caption, and display options; the text of a one-time code is encrypted
  content jsonb not null,
  media_id bigint references messaging.media,
  -- 0 one-time codes, 1 transactional, 2 reminders, 3 bulk; lower values are sent first
  priority smallint not null default 1 check (priority between 0 and 3),
  state text not null default 'PENDING'
    check (state in ('PENDING', 'SENDING', 'SENT', 'DELIVERED', 'READ', 'FAILED', 'EXPIRED', 'UNCERTAIN',
      'CANCELLED')),
  -- of FAILED, EXPIRED and UNCERTAIN
  reason text,
  attempts smallint not null default 0,
  -- attempts that ended before a frame left
  unsent smallint not null default 0,
  -- the term of the leader that took it last; writes by a former leader are ignored
  epoch bigint,
  -- the city's number that sent it last: pace and limits are those of a number
  account text,
  -- how often the platform has rejected it, by what was done about it, and the last code; how often a service of the
  -- platform has failed for it
  refusals jsonb,
  accepted_at timestamptz not null default now(),
  not_before timestamptz not null default now(),
  expires_at timestamptz not null,
  changed_at timestamptz not null default now(),
  -- when the platform accepted it
  sent_at timestamptz,
  quiet_hours jsonb,
  -- of a notification job
  run uuid,
  -- for the chart of the console; columns of their own, so that other changes of a message stay HOT updates
  failed_at timestamptz generated always as (
    case when state in ('FAILED', 'EXPIRED', 'UNCERTAIN') then changed_at end) stored,
  cancelled_at timestamptz generated always as (case when state = 'CANCELLED' then changed_at end) stored,
  -- Indexed instead of the state, so that three of a message's four changes of state are HOT updates.
  is_open boolean not null generated always as (state in ('PENDING', 'SENDING')) stored,
  -- messages in one lane do not delay those in another; media are detached once they are uploaded
  lane text not null generated always as (
    case when media_id is not null then 'upload' when priority = 0 then 'code' else 'other' end) stored
) with (
  -- HOT updates need room on the page
  fillfactor = 70,
  -- at a million rows every 20,000 changes, not 200,000: until then, queries of open messages scan dead entries
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02
);
create index message_open_of_sender on messaging.message (sender, lane, priority, seq) where is_open;
create index message_open_of_phone on messaging.message (phone, priority, seq) where is_open;
create index message_by_sending on messaging.message (sent_at) where sent_at is not null;
create index message_of_media on messaging.message (media_id) where media_id is not null;
-- for the console: the chart, and searches by number and by sender
create index message_by_acceptance on messaging.message (accepted_at);
create index message_by_failure on messaging.message (failed_at) where failed_at is not null;
create index message_by_cancelling on messaging.message (cancelled_at) where cancelled_at is not null;
create index message_of_phone on messaging.message (phone, seq);
create index message_of_sender on messaging.message (sender, seq);
create index message_of_run on messaging.message (run) where run is not null;

-- Lets a list of messages end before those whose transactions have not committed: a later one may commit first, and a page
-- that had passed the earlier ones would never show them. Each insert holds a lock until its transaction ends, whose number
-- is, beyond this offset, below every seq that it takes afterwards. See lib/messenger/outbox/list.ts.
create function messaging.announce_insert() returns trigger
language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared((7206309::bigint << 40) + last_value) from messaging.message_seq_seq;
  return null;
end $$;
create trigger announce_insert before insert on messaging.message
for each statement execute function messaging.announce_insert();

-- Returns a number below every seq that an insert in progress has taken or may take; null if there is none.
create function messaging.first_insert() returns bigint
language sql volatile
return (
  select min((classid::bigint << 32) + objid::bigint) - (7206309::bigint << 40)
  from pg_locks
  where locktype = 'advisory' and objsubid = 1 and classid::bigint >> 8 = 7206309
    and database = (select oid from pg_database where datname = current_database()));

-- The encrypted payload, the same bytes for every send. Not a column of message, because every change of state would
-- copy it.
create table messaging.payload (
  seq bigint primary key references messaging.message (seq) on delete cascade,
  bytes bytea not null,
  composed_at timestamptz not null default now()
);
create index payload_by_composing on messaging.payload (composed_at);

-- The text of a one-time code is needed until the message was composed, and its payload until it was delivered; neither of
-- a message that was cancelled.
create function messaging.drop_code() returns trigger
language plpgsql as $$
begin
  new.content := new.content - 'sealed';
  if new.state in ('DELIVERED', 'READ', 'CANCELLED') then
    delete from messaging.payload where seq = new.seq;
  end if;
  return new;
end $$;
create trigger drop_code before update of state on messaging.message
for each row when (new.priority = 0 and new.state not in ('PENDING', 'SENDING'))
execute function messaging.drop_code();

-- The message of each Idempotency-Key; null while its request is in progress.
create table messaging.idempotency (
  key_digest bytea primary key check (octet_length(key_digest) = 32),
  payload_digest bytea not null check (octet_length(payload_digest) = 32),
  -- no foreign key, which would be checked for each deleted message; keys live 25 hours, messages 30 days
  message_id text,
  created_at timestamptz not null default now()
);
create index idempotency_by_age on messaging.idempotency (created_at);

-- The current leader. The epoch increases with every term, so that writes by a former leader are detected.
create table messaging.leadership (
  only_row boolean primary key default true check (only_row),
  epoch bigint not null,
  holder text not null,
  since timestamptz not null default now()
);

-- The credentials and Signal keys of the connection; the messenger encrypts each value.
create table messaging.auth_key (
  type text not null,
  id text not null,
  value bytea not null,
  primary key (type, id)
) with (fillfactor = 50); -- each send updates keys: HOT updates need room

-- The keys of the last link that the platform ended, encrypted as they were, in case it was a mistake.
create table messaging.auth_archive (
  archived_at timestamptz not null default now(),
  type text not null,
  id text not null,
  value bytea not null,
  primary key (archived_at, type, id)
);

-- Caches the address of a number on the platform, which may contain another number; null if it is not registered.
create table messaging.number_check (
  phone text primary key,
  address text,
  checked_at timestamptz not null default now()
);

-- few, by the number that opts out
create index number_check_of_other on messaging.number_check (address) where address <> phone || '@s.whatsapp.net';

-- The city's numbers, of which one is linked at a time, and how the platform limits new contacts of each.
create table messaging.account (
  phone text primary key,
  -- the end of the platform's lock
  locked_until timestamptz,
  locked_at timestamptz,
  -- the end of a pause after a rejection without a lock
  paused_until timestamptz,
  paused_at timestamptz,
  -- the end of a pause of all messages, after the platform said that the account sends too fast
  stopped_until timestamptz,
  stopped_at timestamptz,
  -- the platform's quota of new contacts until the end of its cycle, as of capped_at
  cap_total integer,
  cap_used integer,
  cap_ends_at timestamptz,
  capped_at timestamptz
);

-- Numbers that each account has sent messages to; new ones have a daily limit.
create table messaging.contact (
  account text not null,
  phone text not null,
  since timestamptz not null default now(),
  primary key (account, phone)
);
create index contact_by_age on messaging.contact (account, since);

create table messaging.control (
  only_row boolean primary key default true check (only_row),
  paused boolean not null default false,
  paused_at timestamptz,
  -- why no login is tried: the code of the platform's last answer; without an end, until an operator acts
  hold_code integer,
  hold_until timestamptz,
  -- the version of the web client to announce, if newer than the library's
  web_version text,
  -- what persons are answered who write to the city's number; null for no answer
  answer text check (length(answer) between 1 and 400),
  -- the backup from which this database was restored last
  restored_from text
);
insert into messaging.control default values;

-- HMACs of the numbers that were answered in the last 24 hours.
create table messaging.answered (
  digest bytea primary key check (octet_length(digest) = 32),
  at timestamptz not null default now()
);
create index answered_by_age on messaging.answered (at);

-- Prepares a database that was restored from a backup, once for each backup. Sending is paused: messages that wait may have
-- been sent after the backup. The sessions with phones are deleted: phones have seen later keys of each session and could
-- not decrypt what is encrypted with these again; new ones begin with the next message. Returns whether anything was done.
create function messaging.hold_restored(backup text) returns boolean
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

-- What operators did in the console: each action before it is performed, and its result. The messenger may add and read
-- rows, not change or delete them.
create table messaging.operator_act (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  -- the username, or issuer and subject of an account there, with the name that it had
  operator text not null check (length(operator) between 1 and 600),
  name text not null check (length(name) between 1 and 200),
  role text not null check (role in ('viewer', 'operator', 'admin')),
  action text not null,
  -- such as a masked number
  subject text
);
create table messaging.operator_result (
  act bigint primary key references messaging.operator_act,
  at timestamptz not null default now(),
  result text not null check (result in ('done', 'failed', 'denied'))
);

-- Returns the end of the quiet hours that contain a moment, or null. `at time zone` handles daylight saving time: an
-- end in a skipped hour becomes the moment of the change.
create function messaging.quiet_until(hours jsonb, moment timestamptz) returns timestamptz
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

-- Counts the messages of a notification run by state.
create function messaging.count_states(wanted uuid) returns table (state text, count integer)
language sql stable security definer
set search_path = messaging, pg_temp
begin atomic
  select state, count(*)::integer from messaging.message where run = wanted group by state;
end;

-- Lists the messages of a run, for its report.
create function messaging.list_run(wanted uuid) returns table (id text, state text, reason text, changed_at timestamptz)
language sql stable security definer
set search_path = messaging, pg_temp
begin atomic
  select id, state, reason, changed_at from messaging.message where run = wanted;
end;

-- Finds those of the numbers that have a message of a run, also when the Idempotency-Keys have expired.
create function messaging.find_in_run(wanted uuid, numbers text[]) returns table (phone text, id text)
language sql stable security definer
set search_path = messaging, pg_temp
begin atomic
  select phone, id from messaging.message where run = wanted and phone = any (numbers);
end;

grant usage on schema messaging to municipal_messenger, municipal_notify;
grant select, insert, update, delete on all tables in schema messaging to municipal_messenger;
grant select on messaging.message_seq_seq to municipal_messenger;
revoke update, delete on messaging.operator_act, messaging.operator_result from municipal_messenger;
grant execute on function messaging.quiet_until, messaging.first_insert to municipal_messenger;
grant execute on function messaging.count_states, messaging.list_run, messaging.find_in_run to municipal_notify;

reset role;
