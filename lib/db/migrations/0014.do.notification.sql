-- Scheduled notifications: recipients and values of each job (schema audience), outcomes (schema notification), and the
-- front office's data, from which the shipped audiences select (schema office).
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

-- ---------------------------------------------------------------- audience

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
    'date', to_char(starts_at at time zone 'Asia/Jakarta', 'YYYY-MM-DD'),
    'time', to_char(starts_at at time zone 'Asia/Jakarta', 'HH24:MI')) as values
from office.appointment
where cancelled_at is null
  and starts_at >= (((audience.moment() at time zone 'Asia/Jakarta')::date + 1)::timestamp at time zone 'Asia/Jakarta')
  and starts_at < (((audience.moment() at time zone 'Asia/Jakarta')::date + 2)::timestamp at time zone 'Asia/Jakarta');

-- One row per ticket, with a new key at ten, five, two and none ahead.
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

-- A job at one scheduled time, or a bulk run, with the number of recipients by outcome.
create table notification.run (
  id uuid primary key default gen_random_uuid(),
  -- unknown jobs are recorded too, as failed; of a bulk run, bulk:<name>
  job text not null check (length(job) <= 100),
  -- of a bulk run, whose recipients come from a file
  template text check (length(template) <= 100),
  -- and how many recipients the file has that it read last
  lines integer,
  scheduled_at timestamptz not null,
  state text not null default 'running' check (state in ('running', 'done', 'failed', 'cancelled')),
  -- of a failure, without personal data
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
-- most have no recipients
create index run_with_content on notification.run (scheduled_at desc, job)
  where state = 'failed' or accepted + opted_out + refused + expired > 0;
create unique index run_of_bulk on notification.run (job) where template is not null;

-- The outcome for each recipient, without number and text: the key identifies it to the city.
create table notification.recipient (
  job text not null,
  -- the scheduled time, or -infinity for a job that notifies once ever
  occasion timestamptz not null,
  dedupe_key text not null,
  -- the last run with this recipient
  run_id uuid references notification.run on delete set null,
  outcome text not null check (outcome in ('accepted', 'opted_out', 'refused', 'expired')),
  -- of a rejection, without personal data
  reason text,
  -- in the outbox
  message_id text,
  -- of a bulk run: the line, the start of the digest of its file, and the number, masked
  line integer,
  file text,
  masked text,
  -- when it was last in the audience, or when its message of a bulk run is due; it is deleted a month later
  seen_at timestamptz not null default now(),
  primary key (job, occasion, dedupe_key)
);
create index recipient_of_run on notification.recipient (run_id, outcome);
create index recipient_by_age on notification.recipient (seen_at);

-- Counts a run's recipients anew, at its end: two that store the same ones at once may both have counted them.
create function notification.count_recipients(wanted uuid) returns void
language sql volatile
begin atomic
  update notification.run set accepted = counted.accepted, opted_out = counted.opted_out,
    refused = counted.refused, expired = counted.expired, changed_at = now()
  from (
    select count(*) filter (where outcome = 'accepted') as accepted,
      count(*) filter (where outcome = 'opted_out') as opted_out,
      count(*) filter (where outcome = 'refused') as refused,
      count(*) filter (where outcome = 'expired') as expired
    from notification.recipient where run_id = wanted) counted
  where id = wanted;
end;

-- Stores outcomes of recipients, and adds them to the counts of their run: counting all of it with each batch would take the longer the
-- more it has.
create function notification.store_outcomes(of_job text, at timestamptz, of_run uuid, outcomes jsonb) returns void
language sql volatile
begin atomic
  with given as materialized (
    select * from jsonb_to_recordset(outcomes) as given (
      key text, outcome text, reason text, "messageId" text, line integer, file text, masked text, "dueAt" timestamptz)
  ), former as (
    -- as they were before this statement; each by its key
    select key as dedupe_key, r.outcome from given cross join lateral (
      select outcome from notification.recipient
      where job = of_job and occasion = at and dedupe_key = key and run_id = of_run offset 0) r
  ), stored as (
    insert into notification.recipient as known
      (job, occasion, dedupe_key, run_id, outcome, reason, message_id, line, file, masked, seen_at)
    select of_job, at, key, of_run, outcome, reason, "messageId", line, file, masked, coalesce("dueAt", now())
    from given order by key
    on conflict (job, occasion, dedupe_key) do update
    set run_id = excluded.run_id, outcome = excluded.outcome, reason = excluded.reason, message_id = excluded.message_id,
      line = excluded.line, file = excluded.file, masked = excluded.masked, seen_at = excluded.seen_at
    -- keep the message of a concurrent run
    where known.outcome <> 'accepted'
    returning dedupe_key, outcome
  ), change as (
    select outcome, 1 as number from stored
    union all
    select former.outcome, -1 from former join stored using (dedupe_key)
  )
  update notification.run set accepted = run.accepted + added.accepted, opted_out = run.opted_out + added.opted_out,
    refused = run.refused + added.refused, expired = run.expired + added.expired, changed_at = now()
  from (
    select coalesce(sum(number) filter (where outcome = 'accepted'), 0) as accepted,
      coalesce(sum(number) filter (where outcome = 'opted_out'), 0) as opted_out,
      coalesce(sum(number) filter (where outcome = 'refused'), 0) as refused,
      coalesce(sum(number) filter (where outcome = 'expired'), 0) as expired
    from change) added
  where id = of_run;
end;

-- Bulk runs, for the console, whose task can neither list the recipients of jobs nor change their runs. A recipient is named by a
-- key that its caller makes; no function returns one.

-- Starts a bulk run, or continues one that has this template and is not cancelled. What it could not send before is no longer
-- part of it: the file may be corrected. Returns its id and state; no row if another template has the name.
create function notification.open_bulk(wanted text, of_template text, of_lines integer)
returns table (id uuid, state text)
language sql volatile security definer
set search_path = notification, pg_temp
begin atomic
  with opened as (
    insert into notification.run as known (job, scheduled_at, template, lines)
    values ('bulk:' || wanted, now(), of_template, of_lines)
    on conflict (job) where template is not null do update
    set state = case known.state when 'cancelled' then known.state else 'running' end, reason = null,
      opted_out = case known.state when 'cancelled' then known.opted_out else 0 end,
      refused = case known.state when 'cancelled' then known.refused else 0 end,
      expired = case known.state when 'cancelled' then known.expired else 0 end,
      lines = excluded.lines, changed_at = now()
    where known.template = excluded.template
    returning known.id, known.state
  ), taken as (
    update notification.recipient set run_id = null
    where run_id = (select opened.id from opened where opened.state = 'running') and outcome <> 'accepted'
  )
  select opened.id, opened.state from opened;
end;

-- Ends a bulk run, with the reason of a failure; one that was cancelled stays cancelled.
create function notification.close_bulk(wanted uuid, failure text) returns void
language sql volatile security definer
set search_path = notification, pg_temp
begin atomic
  update notification.run
  set state = case when state = 'cancelled' then state when failure is null then 'done' else 'failed' end,
    reason = failure, changed_at = now()
  where id = wanted and template is not null;
  select notification.count_recipients(id) from notification.run where id = wanted and template is not null;
end;

-- Returns those of the keys that a bulk run has a message for.
create function notification.list_sent_before(wanted text, keys text[]) returns setof text
language sql stable security definer
set search_path = notification, pg_temp
begin atomic
  select dedupe_key from notification.recipient
  where job = 'bulk:' || wanted and occasion = '-infinity' and dedupe_key = any (keys) and outcome = 'accepted';
end;

create function notification.store_bulk(of_run uuid, outcomes jsonb) returns void
language sql volatile security definer
set search_path = notification, pg_temp
begin atomic
  select notification.store_outcomes(job, '-infinity', id, outcomes)
  from notification.run where id = of_run and template is not null;
end;

-- Lists what became of each line of a bulk run, by line, without keys.
create function notification.report_bulk(of_run uuid)
returns table (line integer, file text, phone text, state text, reason text, at timestamptz)
language sql stable security definer
set search_path = notification, pg_temp
begin atomic
  select r.line, r.file, r.masked, coalesce(m.state, r.outcome), coalesce(m.reason, r.reason),
    coalesce(m.changed_at, r.seen_at)
  from notification.recipient r join notification.run on run.id = r.run_id and template is not null
  left join messaging.message m on m.id = r.message_id
  where r.run_id = of_run order by r.line, r.file;
end;

-- Ends a bulk run that an operator cancels. Returns its id, or null if there is none.
create function notification.cancel_bulk(wanted text) returns uuid
language sql volatile security definer
set search_path = notification, pg_temp
begin atomic
  update notification.run set state = 'cancelled', changed_at = now()
  where job = 'bulk:' || wanted and template is not null returning id;
end;

-- Cancels a message of a run that was cancelled before: whoever handed it over may not know yet, or have been killed since. The
-- lock makes a cancellation wait for messages that are being inserted, so that it sees them.
create function notification.cancel_late() returns trigger
language plpgsql security definer
set search_path = notification, pg_temp as $$
declare
  run_state text;
begin
  select state into run_state from notification.run where id = new.run for share;
  if run_state = 'cancelled' then
    new.state := 'CANCELLED';
  end if;
  return new;
end $$;
create trigger cancel_late before insert on messaging.message
for each row when (new.run is not null) execute function notification.cancel_late();
-- one that was being sent meanwhile, and waits again because nothing has left
create trigger cancel_returned before update of state on messaging.message
for each row when (new.run is not null and old.state = 'SENDING' and new.state = 'PENDING' and new.attempts <= new.unsent)
execute function notification.cancel_late();

-- The outcome of a single notification, requested by an event or an operator.
create table notification.request (
  id text primary key,
  template text not null check (length(template) <= 100),
  outcome text not null check (outcome in ('accepted', 'opted_out', 'refused', 'expired', 'failed')),
  -- of a rejection or failure, without personal data
  reason text,
  message_id text,
  changed_at timestamptz not null default now()
);
create index request_by_age on notification.request (changed_at);

-- Texts that operators change without a deployment. The latest approved version replaces the template in code.
create table notification.template (
  name text not null check (name ~ '^[a-z0-9-]{1,60}$'),
  version integer not null,
  -- {{name}} stands for a value
  text text not null check (length(text) between 1 and 4096),
  -- of a template that code does not have: its class, and the rule of each value
  class text check (class in ('transactional', 'reminder', 'bulk')),
  parameters jsonb,
  -- an operator: the account with which the console has checked the login
  author text not null check (length(author) <= 600),
  created_at timestamptz not null default now(),
  -- of a version that is sent; a draft has none
  approver text check (length(approver) <= 600 and lower(approver) <> lower(author)),
  approved_at timestamptz,
  retired_at timestamptz,
  primary key (name, version)
);

-- Adds a version as a draft. Returns its number; null if another was added meanwhile.
create function notification.add_template(
  of_name text, of_text text, of_class text, of_parameters jsonb, of_author text) returns integer
language sql volatile security definer
set search_path = notification, pg_temp
begin atomic
  insert into notification.template (name, version, text, class, parameters, author)
  select of_name, coalesce(max(version), 0) + 1, of_text, of_class, of_parameters, of_author
  from notification.template where name = of_name on conflict do nothing returning version;
end;

-- Returns whether there was such a draft. The author cannot approve it: the table does not take it.
create function notification.approve_template(of_name text, of_version integer, by text) returns boolean
language sql volatile security definer
set search_path = notification, pg_temp
begin atomic
  with approved as (
    update notification.template
    set approver = by, approved_at = now()
    where name = of_name and version = of_version and approver is null and retired_at is null returning 1)
  select exists (select from approved);
end;

-- Returns whether there was such a version.
create function notification.retire_template(of_name text, of_version integer) returns boolean
language sql volatile security definer
set search_path = notification, pg_temp
begin atomic
  with retired as (
    update notification.template set retired_at = now()
    where name = of_name and version = of_version and retired_at is null returning 1)
  select exists (select from retired);
end;

-- HMACs of the numbers that get no reminders and no bulk messages.
create table notification.opt_out (
  digest bytea primary key check (octet_length(digest) = 32),
  pepper_version integer not null,
  since timestamptz not null default now()
);

-- For the messenger, which may neither list nor count the numbers. The first two return whether anything has changed.
create function notification.add_opt_out(wanted bytea, pepper integer) returns boolean
language sql volatile security definer
set search_path = notification, pg_temp
begin atomic
  with added as (
    insert into notification.opt_out (digest, pepper_version) values (wanted, pepper) on conflict do nothing returning 1)
  select exists (select from added);
end;

create function notification.remove_opt_out(wanted bytea) returns boolean
language sql volatile security definer
set search_path = notification, pg_temp
begin atomic
  with removed as (delete from notification.opt_out where digest = wanted returning 1)
  select exists (select from removed);
end;

create function notification.is_opted_out(wanted bytea) returns boolean
language sql stable security definer
set search_path = notification, pg_temp
begin atomic
  select exists (select from notification.opt_out where digest = wanted);
end;

-- Returns those of the digests that have opted out.
create function notification.list_opted_out(wanted bytea[]) returns setof bytea
language sql stable security definer
set search_path = notification, pg_temp
begin atomic
  select digest from notification.opt_out where digest = any (wanted);
end;

-- ---------------------------------------------------------------- grants

grant usage on schema audience, notification to municipal_notify;
grant execute on function audience.moment to municipal_notify;
-- includes views that a city adds later; the owner of a view, not this role, reads its tables
grant select on all tables in schema audience to municipal_notify;
alter default privileges for role municipal_owner in schema audience grant select on tables to municipal_notify;
grant select, insert, update on notification.run, notification.recipient, notification.request to municipal_notify;
grant execute on function notification.store_outcomes, notification.count_recipients to municipal_notify;
grant execute on function notification.open_bulk, notification.close_bulk, notification.list_sent_before,
  notification.store_bulk, notification.cancel_bulk, messaging.find_in_run to municipal_messenger;
-- what was approved stays as it was
grant select on notification.template to municipal_notify, municipal_messenger;
grant execute on function notification.add_template, notification.approve_template, notification.retire_template
  to municipal_messenger;
grant execute on function notification.add_opt_out, notification.remove_opt_out, notification.list_opted_out
  to municipal_notify, municipal_messenger;
grant execute on function notification.is_opted_out to municipal_messenger;

-- counts and states, no recipients
grant usage on schema notification to municipal_messenger;
grant select on notification.run to municipal_messenger;

grant usage on schema office to municipal_importer;
grant select, insert, update, delete on all tables in schema office to municipal_importer;

reset role;
