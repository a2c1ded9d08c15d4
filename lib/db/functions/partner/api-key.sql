create or replace function partner.is_active(key partner.api_key) returns boolean
language sql stable
return (key).revoked_at is null and now() < coalesce(least((key).expires_at, (key).retires_at), 'infinity');

-- Finds the partner with an active key. Records its use once a minute; concurrent calls do not wait.
create or replace function partner.authenticate(presented bytea)
returns table (partner_id text, key_id text, scopes text, usage_identifier text)
language plpgsql volatile security definer
set search_path = partner, pg_temp as $$
#variable_conflict use_column
begin
  update partner.api_key set last_used_at = now()
  where id = (
    select id from partner.api_key held
    where digest = presented and partner.is_active(held)
      and (last_used_at is null or last_used_at < now() - interval '1 minute')
    for update skip locked
  );
  return query
    select k.partner_id, k.id, array_to_string(k.scopes, ' '), p.usage_identifier
    from partner.api_key k join partner.partner p on p.id = k.partner_id
    where k.digest = presented and partner.is_active(k);
end
$$;

grant execute on function partner.authenticate to municipal_gatekeeper;
grant execute on function partner.is_active to municipal_partner_admin;
