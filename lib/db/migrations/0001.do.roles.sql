-- One login role for each kind of function, and an owner that nobody logs in as.
-- Roles belong to the whole server, so they may be there already from another database.
-- Passwords are set outside, from each role's own secret.
do $$
declare
  role text;
begin
  foreach role in array array['municipal_owner', 'municipal_resident', 'municipal_tourism',
    'municipal_gatekeeper', 'municipal_importer', 'municipal_partner_admin']
  loop
    if not exists (select from pg_roles where rolname = role) then
      execute format('create role %I nologin', role);
    end if;
  end loop;
  execute format('grant municipal_owner to %I', current_user);
  execute format('revoke all on database %I from public', current_database());
  execute format('grant create on database %I to municipal_owner', current_database());
  execute format('grant connect on database %I to municipal_resident, municipal_tourism, '
    'municipal_gatekeeper, municipal_importer, municipal_partner_admin', current_database());
  execute format('grant temporary on database %I to municipal_importer', current_database());
end
$$;

revoke all on schema public from public;

alter role municipal_resident login;
alter role municipal_tourism login;
alter role municipal_gatekeeper login;
alter role municipal_importer login;
alter role municipal_partner_admin login;

-- A caller is answered within 3 s; a statement that would take longer has nobody waiting for it.
alter role municipal_resident set statement_timeout = '2s';
alter role municipal_tourism set statement_timeout = '2s';
alter role municipal_gatekeeper set statement_timeout = '2s';

create schema audit authorization municipal_owner;
create schema partner authorization municipal_owner;
create schema resident authorization municipal_owner;
create schema tourism authorization municipal_owner;

-- PostgreSQL lets everybody execute every new function unless told otherwise.
alter default privileges for role municipal_owner revoke execute on functions from public;
