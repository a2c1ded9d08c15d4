-- Names are compared by the rules of the table name_rule, which the partner guide repeats. Each rule maps spellings to
-- one, so two names match if, and only if, their canonical forms are equal. There is no similarity and no threshold.

-- As for searches, and without diacritics: José is Jose.
create or replace function resident.plain_letters(words text) returns text
language sql immutable parallel safe
return regexp_replace(normalize(resident.fold_name(words), NFKD) collate "C", '[\u0300-\u036f]', '', 'g');

-- Any other punctuation separates words.
create or replace function resident.split_words(words text) returns text[]
language sql immutable parallel safe
return string_to_array(trim(regexp_replace(
  words collate "C", '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u2000-\u206f]+', ' ', 'g')), ' ');

-- Case, spaces, punctuation and diacritics make no difference.
create or replace function resident.canonical_text(words text) returns text
language sql immutable parallel safe
return array_to_string(resident.split_words(resident.plain_letters(words)), '');

create or replace function resident.read_name_rules() returns resident.name_rules
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
create or replace function resident.strip_titles_behind(name text, titles text[]) returns text
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
create or replace function resident.canonical_name(name text) returns text
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
create or replace function resident.canonical(column_name text, content text) returns text
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
create or replace function resident.nobody() returns resident.resident
language sql immutable
return jsonb_populate_record(null::resident.resident, '{"nik": "", "family_card_number": "0000000000000000",
  "name": "Tidak Ada Penduduknya", "mother_name": "Tidak Ada Ibunya", "address": "Jalan Tidak Ada", "hamlet": "Lingkungan",
  "village": "Kelurahan", "district": "Kecamatan", "city": "Kota", "created_at": "1900-01-01", "name_search": ""}');
