-- Bulk runs, for the console, whose task can neither list the recipients of jobs nor change their runs. A recipient is named by a
-- key that its caller makes; no function returns one.

-- Starts a bulk run, or continues one that has this template and is not cancelled. What it could not send before is no longer
-- part of it: the file may be corrected. Returns its id; null if another template has the name, or it is cancelled.
create or replace function notification.start_bulk(wanted text, of_template text, of_lines integer) returns uuid
language sql volatile security definer
set search_path = notification, pg_temp
begin atomic
  with started as (
    insert into notification.run as known (job, scheduled_at, template, lines)
    values ('bulk:' || wanted, now(), of_template, of_lines)
    on conflict (job) where template is not null do update
    set state = 'running', reason = null, opted_out = 0, refused = 0, expired = 0, lines = excluded.lines, changed_at = now()
    where known.template = excluded.template and known.state <> 'cancelled'
    returning id
  ), taken as (
    update notification.recipient set run_id = null
    where run_id = (select id from started) and outcome <> 'accepted'
  )
  select id from started;
end;

create or replace function notification.close_bulk(wanted uuid, failure text) returns void
language sql volatile security definer
set search_path = notification, pg_temp
begin atomic
  select notification.close_run(id, failure) from notification.run where id = wanted and template is not null;
end;

-- Returns those of the keys that a bulk run has a message for.
create or replace function notification.list_sent_before(wanted text, keys text[]) returns setof text
language sql stable security definer
set search_path = notification, pg_temp
begin atomic
  select dedupe_key from notification.recipient
  where job = 'bulk:' || wanted and occasion = '-infinity' and dedupe_key = any (keys) and outcome = 'accepted';
end;

create or replace function notification.store_bulk(of_run uuid, outcomes jsonb) returns void
language sql volatile security definer
set search_path = notification, pg_temp
begin atomic
  select notification.store_outcomes(job, '-infinity', id, outcomes)
  from notification.run where id = of_run and template is not null;
end;

-- Lists what became of each line of a bulk run, by line, without keys.
create or replace function notification.report_bulk(of_run uuid)
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
create or replace function notification.cancel_bulk(wanted text) returns uuid
language sql volatile security definer
set search_path = notification, pg_temp
begin atomic
  update notification.run set state = 'cancelled', changed_at = now()
  where job = 'bulk:' || wanted and template is not null returning id;
end;

grant execute on function notification.start_bulk, notification.close_bulk, notification.list_sent_before,
  notification.store_bulk, notification.cancel_bulk to municipal_messenger;
grant execute on function notification.report_bulk to municipal_console;
