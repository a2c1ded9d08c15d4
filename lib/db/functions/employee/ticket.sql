create or replace function employee.store_ticket(digest bytea, account_id text) returns void
language sql volatile security definer
set search_path = employee, pg_temp
begin atomic
  insert into employee.ticket (digest, account_id) values (store_ticket.digest, store_ticket.account_id)
  on conflict (digest, account_id) do update set issued_at = excluded.issued_at;
end;

create or replace function employee.owns_ticket(digest bytea, account_id text) returns boolean
language sql stable security definer
set search_path = employee, pg_temp
return exists (
  select from employee.ticket t
  where t.digest = owns_ticket.digest and t.account_id = owns_ticket.account_id and t.issued_at > now() - interval '1 day'
);

grant execute on function employee.store_ticket, employee.owns_ticket to municipal_employee_ticket;
