-- Sessions of employees who log in with an account of the legacy system, and the rate limit of logins.
set role municipal_owner;

-- Attempts to prove an identity to a legacy system. The source is the network, or the account that requests or uses
-- employees' tickets. All are digests with a pepper from outside the database: a typed username may be a password.
create table employee.attempt (
  id bigint generated always as identity primary key,
  -- null for the use of a ticket
  account_digest bytea,
  network_digest bytea,
  source_digest bytea,
  made_at timestamptz not null default clock_timestamp(),
  -- null while pending
  failed_at timestamptz
);
create index attempt_by_account on employee.attempt (account_digest, made_at);
create index attempt_by_source on employee.attempt (source_digest, made_at);
create index attempt_by_age on employee.attempt (made_at);

-- Networks from which an account has proved its identity.
create table employee.known_network (
  account_digest bytea,
  network_digest bytea,
  seen_at timestamptz not null default now(),
  primary key (account_digest, network_digest)
);
create index known_network_by_age on employee.known_network (seen_at);

-- The attempts in a window: failed, pending, and the time of the oldest.
create type employee.tally as (failed bigint, awaited bigint, oldest timestamptz);

-- Digests of the tickets of the last day, with the accounts that they were issued to.
create table employee.ticket (
  digest bytea,
  account_id text,
  issued_at timestamptz not null default now(),
  primary key (digest, account_id)
);
create index ticket_by_age on employee.ticket (issued_at);

-- A login and its refreshes: a family of refresh tokens.
create table employee.session (
  id uuid primary key default gen_random_uuid(),
  account_id text not null,
  -- digest of the username or NIP of the login, so that the operator can end the sessions of a name
  name_digest bytea not null,
  scope text not null,
  started_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '30 days',
  -- when the legacy system last confirmed the account, and was last asked
  confirmed_at timestamptz not null default now(),
  asked_at timestamptz not null default now(),
  ended_at timestamptz,
  end_reason text check (end_reason in ('reuse', 'operator', 'closed'))
);
create index session_by_account on employee.session (account_id);
create index session_by_expiry on employee.session (expires_at);

create table employee.refresh_token (
  digest bytea primary key check (octet_length(digest) = 32),
  session_id uuid not null references employee.session on delete cascade,
  issued_at timestamptz not null default now(),
  spent_at timestamptz,
  -- the next token, encrypted with a key derived from this one, which is not stored
  sealed_successor bytea,
  successor bytea,
  -- digest of the client that spent it
  spent_by bytea,
  -- that two clients got it, because the answer to the first was lost, or one of them is a thief
  is_shared boolean not null default false,
  check ((spent_at is null) = (sealed_successor is null) and (spent_at is null) = (successor is null)
    and (spent_at is null) = (spent_by is null))
);
create index refresh_token_by_session on employee.refresh_token (session_id);

grant usage on schema employee to municipal_employee, municipal_employee_ticket, municipal_employee_admin;

reset role;
