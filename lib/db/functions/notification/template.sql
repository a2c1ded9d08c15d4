-- Adds a version as a draft. Returns its number; null if another was added meanwhile.
create or replace function notification.add_template(
  of_name text, of_text text, of_class text, of_parameters jsonb, of_author text) returns integer
language sql volatile security definer
set search_path = notification, pg_temp
begin atomic
  insert into notification.template (name, version, text, class, parameters, author)
  select of_name, coalesce(max(version), 0) + 1, of_text, of_class, of_parameters, of_author
  from notification.template where name = of_name on conflict do nothing returning version;
end;

-- Returns whether there was such a draft. The author cannot approve it: the table does not take it.
create or replace function notification.approve_template(of_name text, of_version integer, by text) returns boolean
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
create or replace function notification.retire_template(of_name text, of_version integer) returns boolean
language sql volatile security definer
set search_path = notification, pg_temp
begin atomic
  with retired as (
    update notification.template set retired_at = now()
    where name = of_name and version = of_version and retired_at is null returning 1)
  select exists (select from retired);
end;

grant execute on function notification.add_template, notification.approve_template, notification.retire_template to
  municipal_messenger;
