-- Partners and their API keys.
set role municipal_owner;

create table partner.partner (
  id text primary key check (id ~ '^[a-z0-9][a-z0-9-]{0,39}$'),
  -- the gateway's usage plan, for throttling and quota
  plan text not null,
  -- API Gateway's key for the plan; it grants no access
  usage_identifier text not null unique,
  -- by agreement, for all its keys together: residents that are shown or looked up within 24 hours, above which reads are
  -- rejected; null for no limit. The default is for 50 clerks with 250 citizens each, and 20 rows for a citizen
  residents_per_day integer default 250000 check (residents_per_day > 0),
  -- look-ups per minute, on average over ten minutes, above which the operator gets an alarm; null for no limit. By default
  -- half as many again as 50 clerks with a citizen every minute
  look_ups_per_minute integer default 75 check (look_ups_per_minute > 0),
  created_at timestamptz not null default now()
);

create table partner.api_key (
  id text primary key,
  partner_id text not null references partner.partner,
  digest bytea not null unique check (octet_length(digest) = 32),
  scopes text[] not null check (scopes <> '{}'),
  -- codes of the agreement, of which each read must state one; null if none is required
  purposes text[] check (purposes <> '{}'),
  -- the fields of a response that list and search may show, by the names of the contract; null for all
  fields text[] check (fields <> '{}' and fields <@ array['nik_alt', 'nama', 'nama_ibu_alt', 'no_kk_alt', 'alamat_alt',
    't_dusun_lingkungan', 't_desakel', 't_kec', 't_kabkota', 'created_at']),
  created_at timestamptz not null default now(),
  -- agreed with the partner; the next key inherits it
  expires_at timestamptz,
  -- the end of the overlap after a rotation
  retires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);
create index api_key_by_partner on partner.api_key (partner_id);

grant usage on schema partner to municipal_gatekeeper, municipal_partner_admin;
grant select, insert, update on partner.partner, partner.api_key to municipal_partner_admin;

reset role;
