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

create function messaging.is_active(credential messaging.sender_credential) returns boolean
language sql stable
return (credential).revoked_at is null
  and now() < coalesce(least((credential).expires_at, (credential).retires_at), 'infinity');

-- Finds the sender with this name and an active credential. Records its use once a minute; concurrent calls do not wait.
create function messaging.authenticate_sender(presented_name text, presented bytea) returns table (sender text)
language plpgsql volatile security definer
set search_path = messaging, pg_temp as $$
#variable_conflict use_column
begin
  update messaging.sender_credential set last_used_at = now()
  where id = (
    select id from messaging.sender_credential held
    where sender = presented_name and digest = presented and messaging.is_active(held)
      and (last_used_at is null or last_used_at < now() - interval '1 minute')
    for update skip locked
  );
  return query
    select c.sender from messaging.sender_credential c
    where c.sender = presented_name and c.digest = presented and messaging.is_active(c);
end
$$;

-- What was accepted of a sender on a day of Jakarta: the sum of its slots.
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

-- Counts the messages that wait for each account, for all accounts at once: counting reads all that wait.
create function messaging.count_waiting() returns table (account smallint, count integer)
language sql stable security definer
set search_path = messaging, pg_temp
begin atomic
  select account, count(*)::integer from messaging.message where is_open and account is not null group by account;
end;

create function messaging.today() returns date
language sql stable
return (now() at time zone 'Asia/Jakarta')::date;

grant usage on schema messaging to municipal_gatekeeper, municipal_sender_admin;
grant execute on function messaging.authenticate_sender to municipal_gatekeeper;
grant execute on function messaging.is_active to municipal_sender_admin;
grant execute on function messaging.count_waiting to municipal_sender_admin;
grant execute on function messaging.today to municipal_sender_admin, municipal_messenger;
grant select, insert, update on messaging.sender, messaging.sender_credential to municipal_sender_admin;
grant select on messaging.sender_day to municipal_sender_admin;
grant select on messaging.sender to municipal_messenger;
grant select, insert, update on messaging.account to municipal_sender_admin;
grant select, insert, update, delete on messaging.sender_day to municipal_messenger;

reset role;
