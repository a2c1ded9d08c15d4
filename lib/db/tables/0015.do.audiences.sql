-- The audiences of scheduled notifications: recipients and values of each job, and the front office's data, from which the
-- shipped ones select.
set role municipal_owner;

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
  -- when the person was served or left
  done_at timestamptz
);
create index queue_ticket_waiting on office.queue_ticket (service, taken_at) where done_at is null;

create table office.document (
  number text primary key,
  kind text not null,
  name text not null,
  phone text not null,
  status text not null,
  -- the next step for the applicant
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

-- The scheduled time of a run. Views use this instead of now(), so that a delayed run or a dry run has the same
-- recipients.
create function audience.moment() returns timestamptz
language sql stable
return coalesce(nullif(current_setting('audience.moment', true), '')::timestamptz, now());

-- Each view needs security_barrier, also those that a city adds. Otherwise the planner may evaluate a reader's
-- condition on rows that the view filters out, and the error of `phone::int2 = 1` quotes them.

create view audience.appointment_reminder with (security_barrier) as
select id as dedupe_key, phone,
  jsonb_build_object('name', name, 'service', service, 'place', place,
    'date', to_char(starts_at at time zone city.time_zone(), 'YYYY-MM-DD'),
    'time', to_char(starts_at at time zone city.time_zone(), 'HH24:MI')) as values
from office.appointment
where cancelled_at is null
  and starts_at >= (((audience.moment() at time zone city.time_zone())::date + 1)::timestamp at time zone city.time_zone())
  and starts_at < (((audience.moment() at time zone city.time_zone())::date + 2)::timestamp at time zone city.time_zone());

-- One row per ticket, with a new key at ten, five, two and none ahead.
create view audience.queue_ticket with (security_barrier) as
select id || ':' || case when ahead = 0 then 0 when ahead <= 2 then 2 when ahead <= 5 then 5 else 10 end as dedupe_key,
  phone, jsonb_build_object('number', number, 'service', service, 'place', place, 'ahead', ahead) as values
from (
  select *, row_number() over (partition by service order by taken_at, id) - 1 as ahead
  from office.queue_ticket
  where done_at is null and taken_at <= audience.moment()
    and taken_at >= date_trunc('day', audience.moment() at time zone city.time_zone()) at time zone city.time_zone()
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
    'since', to_char(since at time zone city.time_zone(), 'HH24:MI')) as values
from office.alert cross join office.on_call
where ended_at is null and since <= audience.moment();

grant usage on schema audience, notification to municipal_notify;

grant execute on function audience.moment to municipal_notify;
-- includes views that a city adds later; the owner of a view, not this role, reads its tables
grant select on all tables in schema audience to municipal_notify;
alter default privileges for role municipal_owner in schema audience grant select on tables to municipal_notify;

grant usage on schema office to municipal_importer;
grant select, insert, update, delete on all tables in schema office to municipal_importer;

reset role;
