-- The login roles, one for each kind of function, and the owner of all schemas, as which nobody logs in.
-- Roles belong to the whole server, so they may exist already, made with another database. Passwords are set by
-- the deployment from each role's secret. What a role may do is granted in the file of each subject.
do $$
declare
  login_roles constant text[] := array['municipal_resident', 'municipal_tourism', 'municipal_gatekeeper',
    'municipal_importer', 'municipal_partner_admin', 'municipal_employee', 'municipal_employee_admin',
    'municipal_messenger', 'municipal_maintenance', 'municipal_notify'];
  role text;
  others text;
begin
  -- From PostgreSQL 16 on, CREATEROLE is not enough to alter a role that another administrator made.
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
  execute format('grant temporary on database %I to municipal_importer', current_database());
end
$$;

revoke all on schema public from public;

-- How long a statement may take, and how long a transaction may wait for its client, whose locks hold others up and
-- whose snapshot keeps dead rows. Connections without a transaction, such as the messenger's with the leader's lock,
-- may be idle for ever. A session that needs longer sets its own limit.
do $$
declare
  limits record;
begin
  for limits in
    select * from (values
      -- a request is answered within 3 s, so nobody waits for a statement that takes longer
      ('municipal_resident', '2s', '5s'),
      ('municipal_tourism', '2s', '5s'),
      ('municipal_gatekeeper', '2s', '5s'),
      ('municipal_employee', '2s', '5s'),
      -- an operator's commands, of few rows
      ('municipal_partner_admin', '20s', '30s'),
      ('municipal_employee_admin', '20s', '30s'),
      -- its largest statements delete 1,000 messages or 1 GB of media, in some 2 s
      ('municipal_messenger', '30s', '30s'),
      -- a batch takes seconds, but may wait for another import; one whose process died holds up the splitting of blocks
      ('municipal_importer', '15min', '1min'),
      -- upkeep works in small steps; a killed run must not hold the lock against the next ones
      ('municipal_maintenance', '20s', '30s'),
      -- An audience that takes longer lacks an index. A run reads it by a cursor, in a transaction that lasts as long
      -- as the run, 10 min at most.
      ('municipal_notify', '2min', '15min')
    ) list (role, statement, waiting)
  loop
    execute format('alter role %I set statement_timeout = %L', limits.role, limits.statement);
    execute format('alter role %I set idle_in_transaction_session_timeout = %L', limits.role, limits.waiting);
  end loop;
  -- The administrator may have other databases. A migration may take as long as its function, 14 min.
  execute format('alter role %I in database %I set statement_timeout = %L', current_user, current_database(), '15min');
  execute format('alter role %I in database %I set idle_in_transaction_session_timeout = %L',
    current_user, current_database(), '5min');
end
$$;

-- The lock of a killed run of upkeep goes with its session.
alter role municipal_maintenance set idle_session_timeout = '1min';

-- The messenger reads in index order. Without statistics, as after a restore or a major upgrade, the planner sorts all
-- messages that wait: 235 ms instead of 2 with 60,000. JIT is off because PostgreSQL 17 and earlier put a very high cost
-- on the sorts that remain, for which it would compile them.
alter role municipal_messenger set enable_sort = off;
alter role municipal_messenger set jit = off;

create schema employee authorization municipal_owner;
create schema partner authorization municipal_owner;
create schema tourism authorization municipal_owner;
create schema resident authorization municipal_owner;
create schema audit authorization municipal_owner;
create schema messaging authorization municipal_owner;
create schema audience authorization municipal_owner;
create schema notification authorization municipal_owner;
create schema office authorization municipal_owner;

-- By default PostgreSQL lets everybody execute every new function.
alter default privileges for role municipal_owner revoke execute on functions from public;
