-- Scheduled notifications: recipients and values of each job (schema audience), outcomes (schema notification), and
-- the front office's data that the shipped audiences are drawn from (schema office).
set role municipal_owner;

-- ---------------------------------------------------------------- office

create table office.appointment (
  id text primary key,
  name text not null,
  phone text not null,
  service text not null,
  place text not null,
  starts_at timestamptz not null,
  cancelled_at timestamptz
);
create index appointment_by_start on office.appointment (starts_at);

create table office.queue_ticket (
  id text primary key,
  number text not null,
  phone text not null,
  service text not null,
  place text not null,
  taken_at timestamptz not null,
  -- served, or left
  done_at timestamptz
);
create index queue_ticket_waiting on office.queue_ticket (service, taken_at) where done_at is null;

create table office.document (
  number text primary key,
  kind text not null,
  name text not null,
  phone text not null,
  status text not null,
  -- what the applicant is to do now
  next text,
  changed_at timestamptz not null
);
create index document_by_change on office.document (changed_at);

create table office.on_call (
  id text primary key,
  phone text not null
);

create table office.alert (
  id text primary key,
  system text not null,
  summary text not null,
  since timestamptz not null,
  ended_at timestamptz
);

-- ---------------------------------------------------------------- audience

-- The moment that a run is for. Views ask this instead of now(), so that a run at another time, or a dry run, has
-- the recipients of that time.
create function audience.moment() returns timestamptz
language sql stable
return coalesce(nullif(current_setting('audience.moment', true), '')::timestamptz, now());

-- Each view is a security barrier, also those that a city adds; a run rejects one that is not. Else the planner may try
-- a reader's condition on rows that the view leaves out, and the error of one such as `phone::int2 = 1` quotes them.

create view audience.appointment_reminder with (security_barrier) as
select id as dedupe_key, phone,
  jsonb_build_object('name', name, 'service', service, 'place', place,
    'date', to_char(starts_at at time zone 'Asia/Jakarta', 'YYYY-MM-DD'),
    'time', to_char(starts_at at time zone 'Asia/Jakarta', 'HH24:MI')) as values
from office.appointment
where cancelled_at is null
  and starts_at >= (((audience.moment() at time zone 'Asia/Jakarta')::date + 1)::timestamp at time zone 'Asia/Jakarta')
  and starts_at < (((audience.moment() at time zone 'Asia/Jakarta')::date + 2)::timestamp at time zone 'Asia/Jakarta');

-- Each ticket once for each of the steps ten, five, two and none.
create view audience.queue_ticket with (security_barrier) as
select id || ':' || case when ahead = 0 then 0 when ahead <= 2 then 2 when ahead <= 5 then 5 else 10 end as dedupe_key,
  phone, jsonb_build_object('number', number, 'service', service, 'place', place, 'ahead', ahead) as values
from (
  select *, row_number() over (partition by service order by taken_at, id) - 1 as ahead
  from office.queue_ticket
  where done_at is null and taken_at <= audience.moment()
    and taken_at >= date_trunc('day', audience.moment() at time zone 'Asia/Jakarta') at time zone 'Asia/Jakarta'
) waiting
where ahead <= 10;

create view audience.document_status with (security_barrier) as
select number || ':' || status || ':' || extract(epoch from changed_at)::bigint as dedupe_key, phone,
  jsonb_strip_nulls(jsonb_build_object('name', name, 'document', kind, 'number', number, 'status', status,
    'next', next)) as values
from office.document
where changed_at > audience.moment() - interval '2 days' and changed_at <= audience.moment();

create view audience.system_alert with (security_barrier) as
select alert.id || ':' || on_call.id as dedupe_key, phone,
  jsonb_build_object('system', system, 'summary', summary,
    'since', to_char(since at time zone 'Asia/Jakarta', 'HH24:MI')) as values
from office.alert cross join office.on_call
where ended_at is null and since <= audience.moment();

-- ---------------------------------------------------------------- notification

-- One scheduled time of a job. The counts are of recipients by outcome, as they were at the last change.
create table notification.run (
  id uuid primary key default gen_random_uuid(),
  -- also a name that is no job, so that what was asked for and not done stands somewhere
  job text not null check (length(job) <= 100),
  scheduled_at timestamptz not null,
  state text not null default 'running' check (state in ('running', 'done', 'failed')),
  -- why it failed, without any data
  reason text,
  accepted integer not null default 0,
  opted_out integer not null default 0,
  refused integer not null default 0,
  expired integer not null default 0,
  started_at timestamptz not null default now(),
  changed_at timestamptz not null default now(),
  unique (job, scheduled_at)
);
create index run_by_change on notification.run (changed_at);

-- The outcome of a recipient. No number and no text: the key is the city's, which can look them up.
create table notification.recipient (
  job text not null,
  -- the scheduled time, or -infinity where a job tells a thing once for ever
  occasion timestamptz not null,
  dedupe_key text not null,
  -- the last run that dealt with it
  run_id uuid references notification.run on delete set null,
  outcome text not null check (outcome in ('accepted', 'opted_out', 'refused', 'expired')),
  -- why it was refused, without any data
  reason text,
  -- in the outbox
  message_id text,
  -- when an audience showed it last: what is still shown is not forgotten
  seen_at timestamptz not null default now(),
  primary key (job, occasion, dedupe_key)
);
create index recipient_of_run on notification.recipient (run_id, outcome);
create index recipient_by_age on notification.recipient (seen_at);

-- The outcome of a notification that an event or an operator asked for.
create table notification.request (
  id text primary key,
  template text not null check (length(template) <= 100),
  outcome text not null check (outcome in ('accepted', 'opted_out', 'refused', 'expired', 'failed')),
  -- why it was refused or failed, without any data
  reason text,
  message_id text,
  changed_at timestamptz not null default now()
);
create index request_by_age on notification.request (changed_at);

-- Numbers that get no reminders and no bulk messages, as HMACs: enough to recognise one.
create table notification.opt_out (
  digest bytea primary key check (octet_length(digest) = 32),
  pepper_version integer not null,
  since timestamptz not null default now()
);

-- ---------------------------------------------------------------- grants

grant usage on schema audience, notification to municipal_notify;
grant execute on function audience.moment to municipal_notify;
-- also those views that a city adds later, as the owner: the role may not read the tables under them
grant select on all tables in schema audience to municipal_notify;
alter default privileges for role municipal_owner in schema audience grant select on tables to municipal_notify;
grant select, insert, update on notification.run, notification.recipient, notification.request to municipal_notify;
grant select, insert, delete on notification.opt_out to municipal_notify;

-- for the console: counts and reasons, and no recipient
grant usage on schema notification to municipal_messenger;
grant select on notification.run to municipal_messenger;

grant usage on schema office to municipal_importer;
grant select, insert, update, delete on all tables in schema office to municipal_importer;

reset role;
