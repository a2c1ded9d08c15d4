create or replace function messaging.count_ending() returns trigger
language plpgsql as $$
begin
  insert into messaging.ending (hour, outcome, count)
  select date_trunc('hour', at, 'UTC'), case state when 'CANCELLED' then 'cancelled' else 'failed' end, count
  from (values (old.state, old.changed_at, -1), (new.state, new.changed_at, 1)) change (state, at, count)
  where state in ('FAILED', 'EXPIRED', 'UNCERTAIN', 'CANCELLED');
  return null;
end $$;
create or replace trigger count_ending after update of state, changed_at on messaging.message
for each row when ((old.state, old.changed_at) is distinct from (new.state, new.changed_at)
  and (old.state in ('FAILED', 'EXPIRED', 'UNCERTAIN', 'CANCELLED')
    or new.state in ('FAILED', 'EXPIRED', 'UNCERTAIN', 'CANCELLED')))
execute function messaging.count_ending();
-- of a run that was cancelled before
create or replace trigger count_inserted_ending after insert on messaging.message
for each row when (new.state in ('FAILED', 'EXPIRED', 'UNCERTAIN', 'CANCELLED')) execute function messaging.count_ending();

-- Counts the messages of a notification run by state.
create or replace function messaging.count_states(wanted uuid) returns table (state text, count integer)
language sql stable security definer
set search_path = messaging, pg_temp
begin atomic
  select state, count(*)::integer from messaging.message where run = wanted group by state;
end;

-- Counts the messages that wait for each account, for all accounts at once: counting reads all that wait.
create or replace function messaging.count_waiting() returns table (account smallint, count integer)
language sql stable security definer
set search_path = messaging, pg_temp
begin atomic
  select account, count(*)::integer from messaging.message where is_open and account is not null group by account;
end;

grant execute on function messaging.count_states to municipal_notify;
grant execute on function messaging.count_waiting to municipal_sender_admin, municipal_console;
