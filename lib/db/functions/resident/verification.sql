-- Verifies what a citizen states about a resident: one answer per field, true or false, never a stored value.

-- Most verifications with a wrong value within 24 hours: of a number, for all partners together, and of a partner.
create or replace function resident.failed_verification_limits(out per_number integer, out per_partner integer)
language sql immutable
begin atomic
  select 10, 1000;
end;

-- Fails if the number or the partner has reached its limit; the detail says in how many seconds that ends.
create or replace function resident.check_failed_verifications(partner text, number bytea) returns void
language plpgsql volatile
set search_path = resident, pg_temp as $$
declare
  most record;
  ends timestamptz;
begin
  select * into most from resident.failed_verification_limits();
  ends := greatest(
    (select made_at from resident.failed_verification where nik_digest = number and made_at > now() - interval '1 day'
      order by made_at desc offset most.per_number - 1 limit 1),
    (select made_at from resident.failed_verification where partner_id = partner and made_at > now() - interval '1 day'
      order by made_at desc offset most.per_partner - 1 limit 1)
  ) + interval '1 day';
  if ends is not null then
    raise exception using errcode = 'MI430', message = 'too many verifications with wrong values',
      detail = greatest(1, ceil(extract(epoch from ends - clock_timestamp())))::integer::text;
  end if;
end
$$;

-- Waits for other verifications with wrong values of the partner, so that concurrent ones share the limit.
create or replace function resident.count_failed_verification(partner text, number bytea) returns void
language plpgsql volatile
set search_path = resident, pg_temp as $$
begin
  perform pg_advisory_xact_lock(7206312 /* partnerVerification */, hashtext(partner));
  perform resident.check_failed_verifications(partner, number);
  insert into resident.failed_verification (partner_id, nik_digest) values (partner, number);
end
$$;

-- Compares the claims, by column, with the resident who has the NIK. Verifications of one NIK run one after another, and
-- are refused once too many have failed: even the right value gets no answer then. A number that nobody has
-- fails like any other, so that nothing tells the two apart.
create or replace function resident.verify(
  nik text, claims json, partner_id text, key_id text, request_id text, nik_digest bytea, pepper_version integer,
  purpose text default null, case_reference text default null, user_reference text default null
) returns json
language plpgsql volatile security definer
set search_path = resident, pg_temp as $$
declare
  known resident.resident;
  stored json;
  columns text[];
  claimed text[];
  kept text[];
  answers json;
  is_match boolean;
begin
  if nik_digest is null or not exists (select from json_object_keys(claims)) or exists (
    select from json_each_text(claims) group by key
    having count(value) <> count(*) or count(*) > 1 or resident.canonical(key, '') is null)
  then
    raise exception using errcode = 'invalid_parameter_value', message = 'a verification needs claims and a digest';
  end if;
  perform resident.check_purpose(partner_id, key_id, purpose);
  perform resident.check_reads(partner_id, false);
  perform pg_advisory_xact_lock(7206311 /* numberVerification */, hashtext(encode(nik_digest, 'hex')));
  perform resident.check_failed_verifications(partner_id, nik_digest);
  select * into known from resident.resident r where r.nik = verify.nik;
  stored := row_to_json(case when known.id is null then resident.nobody() else known end);
  -- A statement of its own: in one with the comparison, PostgreSQL would not compute these for a number that nobody has, and the
  -- shorter time would tell.
  select array_agg(key order by key), array_agg(resident.canonical(key, value) order by key),
    array_agg(resident.canonical(key, stored ->> key) order by key)
  into columns, claimed, kept
  from json_each_text(claims);
  -- An area has few values: alone, it would show whether somebody has the number.
  select json_object_agg(name, is_same and identified order by name), bool_and(is_same and identified)
  into answers, is_match
  from (
    select name, is_same, bool_or(is_same and name in ('name', 'mother_name', 'family_card_number')) over () as identified
    from unnest(columns, claimed, kept) form (name, one, other)
      cross join lateral (select known.id is not null and one <> '' and one = other as is_same) compared
  ) judged;
  if not is_match then
    perform resident.count_failed_verification(partner_id, nik_digest);
  end if;
  perform resident.count_read(partner_id, key_id, 0, 0, true);
  perform audit.record_read((partner_id, key_id, request_id, purpose, case_reference, user_reference), 'verify',
    is_match::integer, array[coalesce(known.id, 0)], nik_digest, pepper_version => pepper_version, answers => answers);
  return answers;
end
$$;

grant execute on function resident.verify to municipal_resident;
