-- The messaging session: what was accepted and what became of it, the media, and the session's own keys.
-- One role reads and writes this schema and no other.
do $$
begin
  if not exists (select from pg_roles where rolname = 'municipal_messenger') then
    create role municipal_messenger nologin;
  end if;
  execute format('grant connect on database %I to municipal_messenger', current_database());
end
$$;

alter role municipal_messenger login;

create schema messaging authorization municipal_owner;

set role municipal_owner;

-- The bytes of an image or a file, in pieces of at most 1 MiB. Without a message it is an upload that was
-- broken off, or one whose message is over.
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
-- Media are compressed already; trying again costs time at every send.
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
  -- what goes to the recipient, encrypted at rest, made once: a second send is byte for byte the first
  payload bytea,
  accepted_at timestamptz not null default now(),
  not_before timestamptz not null default now(),
  expires_at timestamptz not null,
  changed_at timestamptz not null default now(),
  -- when the platform took it
  sent_at timestamptz
);
create index message_waiting on messaging.message (priority, seq) where state = 'PENDING';
create index message_under_way on messaging.message (seq) where state = 'SENDING';
-- in the order of acceptance already: a few pages say where what is old begins
create index message_by_age on messaging.message using brin (accepted_at);
create index message_by_sending on messaging.message (sent_at) where sent_at is not null;
create index message_of_media on messaging.message (media_id) where media_id is not null;

-- One answer for each Idempotency-Key. Without a message it is still under way.
create table messaging.idempotency (
  key_digest bytea primary key check (octet_length(key_digest) = 32),
  payload_digest bytea not null check (octet_length(payload_digest) = 32),
  message_id text references messaging.message on delete cascade,
  created_at timestamptz not null default now()
);
create index idempotency_by_age on messaging.idempotency (created_at);

-- Who may drive the session. The epoch grows with every new leader, so that a late one is told apart.
create table messaging.leadership (
  only_row boolean primary key default true check (only_row),
  epoch bigint not null,
  holder text not null,
  since timestamptz not null default now()
);

-- The session's credentials and Signal keys, each value encrypted before it comes here.
create table messaging.auth_key (
  type text not null,
  id text not null,
  value bytea not null,
  primary key (type, id)
);

-- Whether a number is known to the platform, so that it is not asked for every message.
create table messaging.number_check (
  phone text primary key,
  registered boolean not null,
  checked_at timestamptz not null default now()
);

-- Numbers that were written to before: a new one counts against a budget of its own.
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

grant usage on schema messaging to municipal_messenger;
grant select, insert, update, delete on all tables in schema messaging to municipal_messenger;

reset role;
