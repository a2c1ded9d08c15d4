-- The login roles, one for each kind of function, and the owner of all schemas, which cannot log in. Roles belong to
-- the server, so they may already exist. The deployment sets each password from the role's secret.
do $$
declare
  login_roles constant text[] := array['municipal_resident', 'municipal_tourism', 'municipal_gatekeeper',
    'municipal_importer', 'municipal_partner_admin', 'municipal_employee', 'municipal_employee_ticket',
    'municipal_employee_admin', 'municipal_messenger', 'municipal_maintenance', 'municipal_notify',
    'municipal_sender_admin', 'municipal_subject', 'municipal_citizen_portal', 'municipal_console'];
  role text;
  others text;
begin
  -- From PostgreSQL 16 on, CREATEROLE is not enough to alter a role that another administrator created.
  select string_agg(quote_ident(rolname), ', ' order by rolname) into others from pg_roles
  where rolname = any (array['municipal_owner'] || login_roles) and current_setting('server_version_num')::integer >= 160000
    and not pg_has_role(rolname, 'MEMBER WITH ADMIN OPTION');
  if others is not null then
    raise exception using errcode = 'insufficient_privilege', message = format(
      'these roles were made by another administrator; run as that one: GRANT %s TO %I WITH ADMIN OPTION',
      others, current_user);
  end if;
  foreach role in array array['municipal_owner'] || login_roles loop
    if not exists (select from pg_roles where rolname = role) then
      execute format('create role %I nologin', role);
    end if;
  end loop;
  execute format('grant municipal_owner to %I', current_user);
  execute format('revoke all on database %I from public', current_database());
  execute format('grant create on database %I to municipal_owner', current_database());
  foreach role in array login_roles loop
    execute format('alter role %I login', role);
    execute format('grant connect on database %I to %I', current_database(), role);
  end loop;
end
$$;

revoke all on schema public from public;

-- Timeouts of statements and of idle transactions, whose locks block others and whose snapshots retain dead rows.
-- Connections without a transaction, such as the one with the leader's lock, may stay idle.
do $$
declare
  limits record;
begin
  for limits in
    select * from (values
      -- requests are answered within 3 s
      ('municipal_resident', '2s', '5s'),
      ('municipal_tourism', '2s', '5s'),
      ('municipal_gatekeeper', '2s', '5s'),
      ('municipal_citizen_portal', '2s', '5s'),
      ('municipal_employee', '2s', '5s'),
      ('municipal_employee_ticket', '2s', '5s'),
      -- an operator's commands, on few rows
      ('municipal_partner_admin', '20s', '30s'),
      ('municipal_sender_admin', '20s', '30s'),
      ('municipal_employee_admin', '20s', '30s'),
      ('municipal_subject', '20s', '30s'),
      -- its largest statements delete 1,000 messages or 1 GB of media, in about 2 s
      ('municipal_messenger', '30s', '30s'),
      -- its pages take less; reports of bulk runs, which have up to 45,000 lines, more
      ('municipal_console', '10s', '30s'),
      -- a batch takes seconds, but may wait for another import; an orphaned one blocks the splitting of blocks
      ('municipal_importer', '15min', '1min'),
      -- batches are small; an interrupted run must not block the next one
      ('municipal_maintenance', '20s', '30s'),
      -- a slower audience lacks an index; a run reads it with a cursor, in a transaction of up to 10 min
      ('municipal_notify', '2min', '15min')
    ) list (role, statement, waiting)
  loop
    execute format('alter role %I set statement_timeout = %L', limits.role, limits.statement);
    execute format('alter role %I set idle_in_transaction_session_timeout = %L', limits.role, limits.waiting);
  end loop;
  -- Only in this database, as the administrator may have others. The function that migrates may take 14 min.
  execute format('alter role %I in database %I set statement_timeout = %L', current_user, current_database(), '15min');
  execute format('alter role %I in database %I set idle_in_transaction_session_timeout = %L',
    current_user, current_database(), '5min');
end
$$;

-- Ends the session of an interrupted run, and with it the advisory lock.
alter role municipal_maintenance set idle_session_timeout = '1min';

-- A Lambda environment stays for hours after its last request, frozen, so that only the server can end its connection. The
-- next request opens another one. After a burst through more environments than the role has connections, the others get
-- 503 for as long.
alter role municipal_resident set idle_session_timeout = '4s';
alter role municipal_tourism set idle_session_timeout = '4s';
alter role municipal_gatekeeper set idle_session_timeout = '4s';
alter role municipal_employee set idle_session_timeout = '4s';
alter role municipal_employee_ticket set idle_session_timeout = '4s';
alter role municipal_citizen_portal set idle_session_timeout = '4s';

-- Without statistics, as after a restore or a major upgrade, the planner would sort all pending messages instead of
-- reading an index: 235 ms instead of 2 with 60,000. PostgreSQL 17 and earlier would compile the remaining sorts.
alter role municipal_messenger set enable_sort = off;
alter role municipal_messenger set jit = off;
alter role municipal_console set enable_sort = off;
alter role municipal_console set jit = off;

-- The newest migration that a release must contain to run on this schema. A migration that drops or renames what earlier
-- releases use sets it to the migration that made its replacement.
create table migration.least (version integer primary key);
insert into migration.least values (1);

create schema city authorization municipal_owner;
create schema employee authorization municipal_owner;
create schema partner authorization municipal_owner;
create schema tourism authorization municipal_owner;
create schema resident authorization municipal_owner;
create schema audit authorization municipal_owner;
create schema messaging authorization municipal_owner;
create schema audience authorization municipal_owner;
create schema notification authorization municipal_owner;
create schema office authorization municipal_owner;

-- By default, everybody may execute a new function.
alter default privileges for role municipal_owner revoke execute on functions from public;

-- The time zone of the city: each migration sets it to that of the stage.
set role municipal_owner;
create function city.time_zone() returns text language sql immutable parallel safe return 'Asia/Jakarta';
grant usage on schema city to public;
grant execute on function city.time_zone to public;
reset role;
