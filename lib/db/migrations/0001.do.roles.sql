-- The login roles, one for each kind of function, and the owner of all schemas, as which nobody logs in.
-- Roles belong to the whole server, so they may exist already, made with another database. Passwords are set by
-- the deployment from each role's secret. What a role may do is granted in the file of each subject.
do $$
declare
  login_roles constant text[] := array['municipal_resident', 'municipal_tourism', 'municipal_gatekeeper',
    'municipal_importer', 'municipal_partner_admin', 'municipal_employee', 'municipal_employee_admin',
    'municipal_messenger', 'municipal_maintenance', 'municipal_notify'];
  role text;
begin
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

-- A request is answered within 3 s, so nobody waits for a statement that takes longer.
alter role municipal_resident set statement_timeout = '2s';
alter role municipal_tourism set statement_timeout = '2s';
alter role municipal_gatekeeper set statement_timeout = '2s';
alter role municipal_employee set statement_timeout = '2s';

-- Upkeep works in small steps and can stop between any two of them.
alter role municipal_maintenance set statement_timeout = '20s';
-- A run whose function was killed must not hold the lock against the next ones.
alter role municipal_maintenance set idle_in_transaction_session_timeout = '30s';
alter role municipal_maintenance set idle_session_timeout = '1min';

-- An audience that takes longer is a view that lacks an index.
alter role municipal_notify set statement_timeout = '2min';
-- A run reads its audience by a cursor while it hands over; a killed one must not hold its transaction for ever.
alter role municipal_notify set idle_in_transaction_session_timeout = '15min';

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
