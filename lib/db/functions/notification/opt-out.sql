-- For the messenger, which may neither list nor count the numbers. The first two return whether anything has changed.
create or replace function notification.add_opt_out(wanted bytea, pepper integer) returns boolean
language sql volatile security definer
set search_path = notification, pg_temp
begin atomic
  with added as (
    insert into notification.opt_out (digest, pepper_version) values (wanted, pepper) on conflict do nothing returning 1)
  select exists (select from added);
end;

create or replace function notification.remove_opt_out(wanted bytea) returns boolean
language sql volatile security definer
set search_path = notification, pg_temp
begin atomic
  with removed as (delete from notification.opt_out where digest = wanted returning 1)
  select exists (select from removed);
end;

create or replace function notification.is_opted_out(wanted bytea) returns boolean
language sql stable security definer
set search_path = notification, pg_temp
begin atomic
  select exists (select from notification.opt_out where digest = wanted);
end;

-- Returns those of the digests that have opted out.
create or replace function notification.list_opted_out(wanted bytea[]) returns setof bytea
language sql stable security definer
set search_path = notification, pg_temp
begin atomic
  select digest from notification.opt_out where digest = any (wanted);
end;

grant execute on function notification.add_opt_out, notification.remove_opt_out, notification.list_opted_out to
  municipal_notify, municipal_messenger;
grant execute on function notification.is_opted_out to municipal_messenger;
