-- Whether an account has connected with its number, and logins are not held.
create or replace function messaging.is_ready(account messaging.account) returns boolean
language sql stable
return (account).state <> 'retired' and (account).number is not null
  and ((account).hold_code is null or coalesce((account).hold_until <= now(), false));

-- Whether messages may be given to an account: what was given to one that cannot send is taken back, unless it may have left.
create or replace function messaging.can_send(wanted smallint) returns boolean
language sql stable
return exists (select from messaging.account a where id = wanted and state = 'active' and messaging.is_ready(a));

-- Whether an account takes messages that wait for any of its pool: while it is active, at the pool's first channel. Those of
-- other channels send what is given to them.
create or replace function messaging.takes_from_pool(wanted smallint) returns boolean
language sql stable
return (
  select state = 'active' and not exists (
    select from messaging.account other
    where other.pool = own.pool and other.state <> 'retired' and other.channel < own.channel)
  from messaging.account own where id = wanted);

-- Finds an account of a pool that can send, at a later channel than another account's; than the pool's first without one.
create or replace function messaging.next_account(of_pool text, after smallint) returns smallint
language sql stable
return (
  select id from messaging.account next
  where pool = of_pool and state = 'active' and messaging.is_ready(next) and channel > coalesce(
    (select channel from messaging.account where id = after),
    (select min(channel) from messaging.account where pool = of_pool and state <> 'retired'))
  order by channel, id limit 1);

-- Whether messages of a pool can go on from an account to another channel.
create or replace function messaging.has_next_channel(of_pool text, after smallint) returns boolean
language sql stable
return exists (
  select from messaging.account next join messaging.account own on own.id = after
  where next.pool = of_pool and next.state <> 'retired' and next.channel > own.channel);

-- An account that moves to another pool is not the one that the recipients of its former pool know; nor is one that is linked
-- to another number, but to those that know that number, too.
create or replace function messaging.forget_routes() returns trigger
language plpgsql security definer
set search_path = messaging, pg_temp as $$
begin
  delete from messaging.route r
  where account = new.id and (pool <> new.pool
    or not exists (select from messaging.contact c where c.number = new.number and c.phone = r.phone));
  return null;
end $$;
create or replace trigger forget_routes after update of pool, number on messaging.account
for each row when (new.number is not null and (new.pool, new.number) is distinct from (old.pool, old.number))
execute function messaging.forget_routes();

grant execute on function messaging.is_ready, messaging.can_send, messaging.takes_from_pool to municipal_messenger,
  municipal_console;
grant execute on function messaging.next_account, messaging.has_next_channel to municipal_messenger;
