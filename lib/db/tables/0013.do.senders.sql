-- Senders: the city's backends that call the messaging API, their credentials, and what each may send. A user of the
-- secret messaging-basic is a sender, too; a row with its name limits it.
set role municipal_owner;

create table messaging.sender (
  -- the username; a message's sender is api:<name>. A colon would end it (RFC 7617, 2).
  name text primary key check (name ~ '^[^:[:cntrl:]]+$' and length(name) <= 296),
  classes text[] not null default array['one-time-code', 'transactional', 'reminder', 'bulk']
    check (classes <> '{}' and classes <@ array['one-time-code', 'transactional', 'reminder', 'bulk']),
  -- messages, and bytes of texts and media, that are accepted in a day; null: no limit
  per_day integer check (per_day >= 0),
  bytes_per_day bigint check (bytes_per_day >= 0),
  -- codes of the countries whose numbers the sender means although they could be numbers at home without their code
  countries text[] not null default '{}' check (array_to_string(countries, ',', '?') ~ '^([1-9][0-9]{0,2}(,|$))*$'),
  -- its accounts send the messages
  pool text not null default 'city',
  created_at timestamptz not null default now()
);

create table messaging.sender_credential (
  id text primary key,
  sender text not null references messaging.sender,
  digest bytea not null unique check (octet_length(digest) = 32),
  created_at timestamptz not null default now(),
  -- agreed with the sender; the next credential inherits it
  expires_at timestamptz,
  -- the end of the overlap after a rotation
  retires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);
create index credential_by_sender on messaging.sender_credential (sender);

-- What was accepted of a sender on a day of the city: the sum of its slots.
create table messaging.sender_day (
  -- as in a message
  sender text not null,
  day date not null,
  -- of a connection, so that concurrent acceptances seldom wait for each other's commit
  slot smallint not null,
  messages integer not null,
  bytes bigint not null,
  primary key (sender, day, slot)
) with (fillfactor = 50); -- each acceptance updates a row: HOT updates need room

grant usage on schema messaging to municipal_gatekeeper, municipal_sender_admin;
grant select, insert, update on messaging.sender, messaging.sender_credential to municipal_sender_admin;
grant select on messaging.sender_day to municipal_sender_admin;
grant select on messaging.sender to municipal_messenger;
grant select, insert, update on messaging.account to municipal_sender_admin;
grant select (phone, locked_until, paused_until) on messaging.number to municipal_sender_admin;
grant select, insert, update on messaging.sender_day to municipal_messenger;

reset role;
