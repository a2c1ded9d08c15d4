-- The messenger: what was accepted and what became of it, the media, and the keys of its connection.
-- One role, municipal_messenger, reads and writes these tables; others may execute single functions.
set role municipal_owner;

-- The bytes of an image or a file, in pieces of at most 1 MiB. Without a message, it is an upload that broke off, or
-- its message is over.
create table messaging.media (
  id bigint generated always as identity primary key,
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
-- Media are already compressed; trying again would cost time at every send.
alter table messaging.media_chunk alter column bytes set storage external;

create table messaging.message (
  -- the platform's own message id, made before the row is written: it stays the same however often it is sent
  id text primary key,
  -- order of acceptance
  seq bigint generated always as identity unique,
  kind text not null check (kind in ('text', 'image', 'file')),
  -- digits with country code
  phone text not null check (phone ~ '^[1-9][0-9]{7,14}$'),
  -- text or caption and the options of the send
  content jsonb not null,
  media_id bigint references messaging.media,
  -- 0 one-time codes, 1 transactional, 2 reminders, 3 bulk: lower goes first
  priority smallint not null default 1 check (priority between 0 and 3),
  state text not null default 'PENDING'
    check (state in ('PENDING', 'SENDING', 'SENT', 'DELIVERED', 'READ', 'FAILED', 'EXPIRED', 'UNCERTAIN')),
  -- why it FAILED, EXPIRED or is UNCERTAIN
  reason text,
  attempts smallint not null default 0,
  -- the leader that took it last; an older one has lost it
  epoch bigint,
  accepted_at timestamptz not null default now(),
  not_before timestamptz not null default now(),
  expires_at timestamptz not null,
  changed_at timestamptz not null default now(),
  -- when the platform took it
  sent_at timestamptz,
  -- the hours in which it waits
  quiet_hours jsonb,
  -- the notification run that it belongs to
  run uuid,
  -- Whether it waits or is being sent. No index has the state itself: a change of state that leaves this as it is
  -- writes no index entry (a HOT update), which is three of the four changes in the life of a message.
  is_open boolean not null generated always as (state in ('PENDING', 'SENDING')) stored
) with (
  -- room for the next versions of a row on its own page, without which no update is HOT
  fillfactor = 70,
  -- at a million rows every 20,000 changes, not every 200,000: until then readers of the open ones pass the closed
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02
);
create index message_open on messaging.message (priority, seq) where is_open;
create index message_open_of_phone on messaging.message (phone, seq) where is_open;
create index message_by_sending on messaging.message (sent_at) where sent_at is not null;
create index message_of_media on messaging.message (media_id) where media_id is not null;
create index message_of_run on messaging.message (run) where run is not null;

-- What goes to the recipient, encrypted at rest, made once: a second send is byte for byte the first. Not a column of
-- the message, as every change of state would copy it. The key finds the oldest ones when they are to be deleted.
create table messaging.payload (
  seq bigint primary key references messaging.message (seq) on delete cascade,
  bytes bytea not null
);

-- One answer for each Idempotency-Key. Without a message, the request is still in progress.
create table messaging.idempotency (
  key_digest bytea primary key check (octet_length(key_digest) = 32),
  payload_digest bytea not null check (octet_length(payload_digest) = 32),
  -- No foreign key: each message that is deleted would be looked for here. A key is deleted after 25 hours, a message
  -- after 30 days.
  message_id text,
  created_at timestamptz not null default now()
);
create index idempotency_by_age on messaging.idempotency (created_at);

-- The current leader. The epoch grows with every new leader, so that writes of a former one are recognised.
create table messaging.leadership (
  only_row boolean primary key default true check (only_row),
  epoch bigint not null,
  holder text not null,
  since timestamptz not null default now()
);

-- The credentials and Signal keys of the connection, each value encrypted before it comes here.
create table messaging.auth_key (
  type text not null,
  id text not null,
  value bytea not null,
  primary key (type, id)
) with (fillfactor = 50); -- each send rewrites some: HOT updates need room

-- Whether a number is known to the platform, so that it is not asked for every message.
create table messaging.number_check (
  phone text primary key,
  registered boolean not null,
  checked_at timestamptz not null default now()
);

-- Numbers that were written to before: new ones have their own budget.
create table messaging.contact (
  phone text primary key,
  since timestamptz not null default now()
);
create index contact_by_age on messaging.contact (since);

-- What the operator has set.
create table messaging.control (
  only_row boolean primary key default true check (only_row),
  paused boolean not null default false
);
insert into messaging.control default values;

-- The end of the quiet hours that a moment falls into, or null. `at time zone` knows on which days the clocks
-- change; an end that a clock skips is the moment of the change.
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

-- A run's messages, for its report: counts by state, and nothing of the messages.
create function messaging.count_states(wanted uuid) returns table (state text, count integer)
language sql stable security definer
set search_path = messaging, pg_temp
begin atomic
  select state, count(*)::integer from messaging.message where run = wanted group by state;
end;

grant usage on schema messaging to municipal_messenger, municipal_notify;
grant select, insert, update, delete on all tables in schema messaging to municipal_messenger;
grant execute on function messaging.quiet_until to municipal_messenger;
grant execute on function messaging.count_states to municipal_notify;

reset role;
