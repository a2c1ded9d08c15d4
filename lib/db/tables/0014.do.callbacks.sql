-- Callbacks: each change of a message's state is sent to its sender's addresses, until each has accepted it.
set role municipal_owner;

create table messaging.callback (
  id bigint generated always as identity primary key,
  -- such as api:<username>
  sender text not null,
  url text not null check (url ~ '^https?://' and length(url) <= 2048),
  -- for the console: the path may contain a token
  host text not null generated always as (split_part(url, '/', 3)) stored,
  -- encrypted by the command that made them; the previous one signs too until it expires
  secret bytea not null,
  previous_secret bytea,
  previous_until timestamptz,
  created_at timestamptz not null default now(),
  -- in a row, of the address and not of one event: nothing is sent to it until retry_at
  failures integer not null default 0,
  retry_at timestamptz not null default now(),
  -- when the address answered 410: it gets nothing more until it is added again
  disabled_at timestamptz,
  unique (sender, url)
);

create table messaging.callback_event (
  seq bigint generated always as identity primary key,
  -- the same for every attempt: the receiver knows a repetition by it
  id uuid not null default gen_random_uuid(),
  callback_id bigint not null references messaging.callback on delete cascade,
  message_id text not null,
  -- of the message after the change
  state text not null,
  reason text,
  duration_seconds integer,
  account smallint,
  accepted_at timestamptz not null,
  at timestamptz not null,
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  retry_until timestamptz not null default now() + interval '24 hours',
  -- from then on it is not delivered, until an operator replays it
  given_up_at timestamptz,
  -- of the last attempt; null without an answer
  last_status integer
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
create index callback_event_due on messaging.callback_event (callback_id, due_at) where given_up_at is null;
create index callback_event_of_callback on messaging.callback_event (callback_id);
create index callback_event_of_message on messaging.callback_event (message_id, seq) where given_up_at is null;
create index callback_event_late on messaging.callback_event (callback_id, retry_until) where given_up_at is null;
create index callback_event_dead on messaging.callback_event (callback_id) where given_up_at is not null;
create index callback_event_given_up on messaging.callback_event (given_up_at) where given_up_at is not null;

grant select, insert, update, delete on messaging.callback to municipal_sender_admin;
grant select, update on messaging.callback_event to municipal_sender_admin;
grant select, update on messaging.callback to municipal_messenger;
grant select, insert, update, delete on messaging.callback_event to municipal_messenger;

reset role;
