-- The changes of one message have a lock of its row in common, so their order is that of seq. While a message is tried, it
-- changes between PENDING and SENDING: this is not reported.
create or replace function messaging.record_event() returns trigger
language plpgsql as $$
begin
  insert into messaging.callback_event (callback_id, message_id, state, reason, duration_seconds, account, accepted_at, at)
  select id, new.id, new.state, new.reason, (new.content ->> 'duration_seconds')::integer, new.account,
    new.accepted_at, new.changed_at
  from messaging.callback where sender = new.sender and disabled_at is null
  -- waits for a removal in progress, which would make the insert fail
  for key share;
  return null;
end $$;
create or replace trigger record_event after update of state, reason on messaging.message
for each row when (new.state not in ('PENDING', 'SENDING')
  and (new.state, new.reason) is distinct from (old.state, old.reason))
execute function messaging.record_event();
