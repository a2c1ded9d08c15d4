-- Ends a run, with the reason of a failure; one that was cancelled stays cancelled. Then counts its recipients anew: two that store
-- the same ones at once may both have counted them.
create or replace function notification.close_run(wanted uuid, failure text) returns void
language sql volatile
begin atomic
  update notification.run
  set state = case when state = 'cancelled' then state when failure is null then 'done' else 'failed' end, reason = failure
  where id = wanted;
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
create or replace function notification.store_outcomes(of_job text, at timestamptz, of_run uuid, outcomes jsonb) returns void
language sql volatile
begin atomic
  with given as materialized (
    select * from jsonb_to_recordset(outcomes) as given (
      key text, outcome text, reason text, "messageId" text, line integer, file text, masked text, "sendAt" timestamptz)
  ), former as (
    -- as they were before this statement; each by its key
    select key as dedupe_key, r.outcome from given cross join lateral (
      select outcome from notification.recipient
      where job = of_job and occasion = at and dedupe_key = key and run_id = of_run offset 0) r
  ), stored as (
    insert into notification.recipient as known
      (job, occasion, dedupe_key, run_id, outcome, reason, message_id, line, file, masked, seen_at)
    select of_job, at, key, of_run, outcome, reason, "messageId", line, file, masked, coalesce("sendAt", now())
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

-- Cancels a message of a run that was cancelled before: whoever handed it over may not know yet, or have been killed since. The
-- lock makes a cancellation wait for messages that are being inserted, so that it sees them.
create or replace function notification.cancel_late() returns trigger
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
create or replace trigger cancel_late before insert on messaging.message
for each row when (new.run is not null) execute function notification.cancel_late();
-- one that was being sent meanwhile, and waits again because nothing has left
create or replace trigger cancel_returned before update of state on messaging.message
for each row when (new.run is not null and old.state = 'SENDING' and new.state = 'PENDING' and new.attempts <= new.failed_early)
execute function notification.cancel_late();

grant execute on function notification.store_outcomes, notification.close_run to municipal_notify;
