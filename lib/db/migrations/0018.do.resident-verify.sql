-- Verifies what a citizen states about a resident: one answer per field, true or false, never a stored value.
--
-- Names are compared by the rules of the table name_rule, which the partner guide repeats. Each rule maps spellings to
-- one, so two names match if, and only if, their canonical forms are equal. There is no similarity and no threshold.
set role municipal_owner;

create table resident.name_rule (
  kind text not null check (kind in ('title before', 'title behind', 'first word', 'word', 'letters')),
  -- in lower case; a title with the dots that it may be written with
  written text not null,
  -- blank for a title
  read_as text not null,
  -- of letters, which are replaced in this order
  place integer not null default 0,
  primary key (kind, written)
);
create unique index name_rule_without_dots on resident.name_rule (kind, replace(written, '.', ''));

insert into resident.name_rule (kind, written, read_as)
select 'title before', unnest(string_to_array(
  'apt bdn dr dra drg drh drs h h.c hj ir k.h kiai kyai ns pdm pdt prof tgk ust ustad ustadz ustadzah ustaz ustazah', ' ')), '';

insert into resident.name_rule (kind, written, read_as)
select 'title behind', unnest(string_to_array(
  'a.ma a.ma.pd a.md a.md.ak a.md.keb a.md.kep a.md.kes a.md.kom a.md.t ak apt b.a b.eng b.sc d.e.a lc ll.m '
  'm.a m.a.p m.ag m.ak m.b.a m.e m.eng m.farm m.h m.hum m.i.kom m.keb m.kep m.kes m.kn m.kom m.m m.p m.p.h m.pd '
  'm.pd.i m.psi m.sc m.si m.sn m.sos m.t m.t.i m.th ns ph.d s.a.p s.ag s.ak s.e s.e.i s.farm s.h s.h.i s.hum s.hut '
  's.i.kom s.i.p s.k.m s.keb s.ked s.kep s.kom s.kom.i s.mat s.p s.pd s.pd.i s.pd.k s.pd.sd s.pi s.psi s.pt s.s s.s.t '
  's.si s.sn s.sos s.sos.i s.sy s.t s.t.p s.th s.th.i s.tr s.tr.keb s.tr.kep sp.a sp.an sp.b sp.jp sp.kj sp.m sp.og '
  'sp.p sp.pd sp.rad sp.s sp.tht', ' ')), '';

insert into resident.name_rule (kind, written, read_as)
select 'first word', unnest(string_to_array(
  'm md mhd moch mochamad mochammad moh mohamad mohamed mohammad mohammed mokhamad mokhammad much muchamad muchammad '
  'muh muhamad muhamed muhammed mukhamad mukhammad', ' ')), 'muhammad';

insert into resident.name_rule (kind, written, read_as) values
  ('first word', 'st', 'siti'), ('first word', 'sitti', 'siti'),
  ('word', 'abd', 'abdul'), ('word', 'achmad', 'ahmad'), ('word', 'ahmed', 'ahmad'), ('word', 'akhmad', 'ahmad'),
  ('word', 'noor', 'nur');

-- The spellings of 1901 and 1947 and that of 1972: what was j, dj and y is one letter here, because a name may have either.
insert into resident.name_rule (kind, place, written, read_as) values
  ('letters', 1, 'oe', 'u'), ('letters', 2, 'tj', 'c'), ('letters', 3, 'ch', 'kh'), ('letters', 4, 'dj', 'j'),
  ('letters', 5, 'j', 'y');

-- As for searches, and without diacritics: José is Jose.
create function resident.plain_letters(words text) returns text
language sql immutable parallel safe
return regexp_replace(normalize(resident.fold_name(words), NFKD) collate "C", '[\u0300-\u036f]', '', 'g');

-- Any other punctuation separates words.
create function resident.split_words(words text) returns text[]
language sql immutable parallel safe
return string_to_array(trim(regexp_replace(
  words collate "C", '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u2000-\u206f]+', ' ', 'g')), ' ');

-- Case, spaces, punctuation and diacritics make no difference.
create function resident.canonical_text(words text) returns text
language sql immutable parallel safe
return array_to_string(resident.split_words(resident.plain_letters(words)), '');

-- The rules in the form in which they are looked up; titles are without dots, and the pairs with the one between two words.
create type resident.name_rules as (
  titles_before text[], pairs_before text[], titles_behind text[], first_words jsonb, words jsonb,
  letters text[], letters_read_as text[]
);

create function resident.read_name_rules() returns resident.name_rules
language sql stable
set search_path = resident, pg_temp
begin atomic
  select
    array_agg(replace(written, '.', '')) filter (where kind = 'title before'),
    array_agg(written) filter (where kind = 'title before' and strpos(written, '.') > 0),
    array_agg(replace(written, '.', '')) filter (where kind = 'title behind'),
    jsonb_object_agg(written, read_as) filter (where kind = 'first word'),
    jsonb_object_agg(written, read_as) filter (where kind = 'word'),
    array_agg(written order by place) filter (where kind = 'letters'),
    array_agg(read_as order by place) filter (where kind = 'letters')
  from resident.name_rule;
end;

-- Removes the titles behind a name, but never its only word. One counts behind a comma, if it is written with a dot, or if
-- its first two letters are consonants: Jack Ma and Ratu Se keep their words.
create function resident.strip_titles_behind(name text, titles text[]) returns text
language plpgsql immutable
set search_path = resident, pg_temp as $$
declare
  words text[] := regexp_split_to_array(trim(replace(name, ',', ' ')), '\s+');
  before_comma integer := cardinality(regexp_split_to_array(trim(split_part(name, ',', 1)), '\s+'));
  remaining integer := cardinality(words);
  taken integer;
  letters text;
begin
  loop
    taken := null;
    -- S. Kom. is two words, A. Md. Kep. three
    for number in reverse least(3, remaining - 1)..1 loop
      letters := replace(array_to_string(words[remaining - number + 1:remaining], ''), '.', '');
      if letters = any (titles) and (remaining - number >= before_comma
        or strpos(words[remaining - number + 1], '.') > 0 or (number = 1 and letters ~ '^[^aeiou]{2}'))
      then
        taken := number;
        exit;
      end if;
    end loop;
    exit when taken is null;
    remaining := remaining - taken;
  end loop;
  return array_to_string(words[:remaining], ' ');
end
$$;

-- Returns the form that all spellings of a name have in common, without spaces; '' for a text without letters.
create function resident.canonical_name(name text) returns text
language plpgsql stable
set search_path = resident, pg_temp as $$
declare
  rules constant resident.name_rules := resident.read_name_rules();
  words text[] := resident.split_words(resident.strip_titles_behind(resident.plain_letters(name), rules.titles_behind));
  spelling text := '';
begin
  loop
    if cardinality(words) > 2 and words[1] || '.' || words[2] = any (rules.pairs_before) then
      words := words[3:];
    elsif cardinality(words) > 1 and words[1] = any (rules.titles_before) then
      words := words[2:];
    else
      exit;
    end if;
  end loop;
  -- an abbreviation that is the whole name remains
  if cardinality(words) > 1 then
    words[1] := coalesce(rules.first_words ->> words[1], words[1]);
  end if;
  for place in 1..cardinality(words) loop
    spelling := spelling || coalesce(rules.words ->> words[place], words[place]) || ' ';
  end loop;
  for place in 1..cardinality(rules.letters) loop
    spelling := replace(spelling, rules.letters[place], rules.letters_read_as[place]);
  end loop;
  return replace(spelling, ' ', '');
end
$$;

-- The form in which a column is compared.
create function resident.canonical(column_name text, content text) returns text
language plpgsql stable
set search_path = resident, pg_temp as $$
begin
  return case
    when column_name in ('name', 'mother_name') then resident.canonical_name(content)
    when column_name in ('hamlet', 'village', 'district', 'city') then resident.canonical_text(content)
    when column_name = 'family_card_number' then content
  end;
end
$$;

-- Compared where there is no resident, so that the answer takes as long. Nothing matches it.
create function resident.nobody() returns resident.resident
language sql immutable
return row(null, '', '0000000000000000', 'Tidak Ada Penduduknya', 'Tidak Ada Ibunya', 'Jalan Tidak Ada', 'Lingkungan',
  'Kelurahan', 'Kecamatan', 'Kota', '1900-01-01', '')::resident.resident;

-- Verifications with a wrong value, of the last day: the number as an HMAC, because 16 digits can be guessed.
create table resident.mismatch (
  id bigint generated always as identity primary key,
  partner_id text not null check (partner_id <> ''),
  nik_digest bytea not null check (octet_length(nik_digest) = 32),
  made_at timestamptz not null default clock_timestamp()
);
create index mismatch_by_number on resident.mismatch (nik_digest, made_at);
create index mismatch_by_partner on resident.mismatch (partner_id, made_at);
create index mismatch_by_age on resident.mismatch (made_at);

-- Most mismatches within 24 hours: of a number, for all partners together, and of a partner.
create function resident.mismatch_limits(out per_number integer, out per_partner integer)
language sql immutable
begin atomic
  select 10, 1000;
end;

-- Fails if the number or the partner has reached its limit; the detail says in how many seconds that ends.
create function resident.check_mismatches(partner text, number bytea) returns void
language plpgsql volatile
set search_path = resident, pg_temp as $$
declare
  most record;
  ends timestamptz;
begin
  select * into most from resident.mismatch_limits();
  ends := greatest(
    (select made_at from resident.mismatch where nik_digest = number and made_at > now() - interval '1 day'
      order by made_at desc offset most.per_number - 1 limit 1),
    (select made_at from resident.mismatch where partner_id = partner and made_at > now() - interval '1 day'
      order by made_at desc offset most.per_partner - 1 limit 1)
  ) + interval '1 day';
  if ends is not null then
    raise exception using errcode = 'MI430', message = 'too many verifications with wrong values',
      detail = greatest(1, ceil(extract(epoch from ends - clock_timestamp())))::integer::text;
  end if;
end
$$;

-- Waits for other verifications with wrong values of the partner, so that concurrent ones share the limit.
create function resident.count_mismatch(partner text, number bytea) returns void
language plpgsql volatile
set search_path = resident, pg_temp as $$
begin
  perform pg_advisory_xact_lock(7206312, hashtext(partner));
  perform resident.check_mismatches(partner, number);
  insert into resident.mismatch (partner_id, nik_digest) values (partner, number);
  -- deletes old rows with each new one, to bound the table
  delete from resident.mismatch where id in (
    select id from resident.mismatch where made_at < now() - interval '1 day'
    order by made_at limit 5 for update skip locked);
end
$$;

-- For maintenance: old mismatches that no new one has deleted, and old counts of reads.
create function resident.expire_counts(most integer) returns integer
language sql volatile security definer
set search_path = resident, pg_temp
begin atomic
  with mismatches as (
    delete from resident.mismatch where id in (
      select id from resident.mismatch where made_at < now() - interval '1 day'
      order by made_at limit most for update skip locked)
    returning 1
  ), reads as (
    delete from resident.read_count where id in (
      select id from resident.read_count where since < now() - interval '1 day' limit most for update skip locked)
    returning 1
  )
  select greatest((select count(*) from mismatches), (select count(*) from reads))::integer;
end;

-- Compares the claims, by column, with the resident who has the NIK. Verifications of one NIK run one after another, and
-- are refused once it has too many mismatches: even the right value gets no answer then. A number that nobody has is a
-- mismatch like any other, so that nothing tells the two apart.
create function resident.verify(
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
  perform pg_advisory_xact_lock(7206311, hashtext(encode(nik_digest, 'hex')));
  perform resident.check_mismatches(partner_id, nik_digest);
  select * into known from resident.resident r where r.nik = verify.nik;
  stored := row_to_json(case when known.id is null then resident.nobody() else known end);
  -- In a statement of its own: the planner would leave out what a number that nobody has does not need, and the time tells.
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
    perform resident.count_mismatch(partner_id, nik_digest);
  end if;
  perform resident.count_read(partner_id, key_id, 0, 0, true);
  insert into audit.resident_read
    (partner_id, key_id, request_id, route, nik_digest, pepper_version, row_count, shown, answers,
      purpose, case_reference, user_reference)
  values
    (partner_id, key_id, request_id, 'verify', nik_digest, pepper_version, is_match::integer,
      audit.encode_ids(array[coalesce(known.id, 0)]), answers,
      purpose, case_reference, user_reference);
  return answers;
end
$$;

grant execute on function resident.verify to municipal_resident;
grant execute on function resident.expire_counts to municipal_maintenance;

reset role;
