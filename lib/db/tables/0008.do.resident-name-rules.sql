-- The rules by which verification compares names (functions/resident/canonical.sql).
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

-- The rules in the form in which they are looked up; titles are without dots, and the pairs with the one between two words.
create type resident.name_rules as (
  titles_before text[], pairs_before text[], titles_behind text[], first_words jsonb, words jsonb,
  letters text[], letters_read_as text[]
);

reset role;
