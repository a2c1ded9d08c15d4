create or replace function messaging.is_active(credential messaging.sender_credential) returns boolean
language sql stable
return (credential).revoked_at is null
  and now() < coalesce(least((credential).expires_at, (credential).retires_at), 'infinity');

-- Finds the sender with this name and an active credential. Records its use once a minute; concurrent calls do not wait.
create or replace function messaging.authenticate_sender(presented_name text, presented bytea) returns table (sender text)
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

create or replace function messaging.today() returns date
language sql stable
return (now() at time zone city.time_zone())::date;

grant execute on function messaging.authenticate_sender to municipal_gatekeeper;
grant execute on function messaging.is_active to municipal_sender_admin;
grant execute on function messaging.today to municipal_sender_admin, municipal_messenger, municipal_console;
