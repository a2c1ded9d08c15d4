import type postgres from "postgres";
import { beforeEach, expect, test } from "vitest";
import { countSubstrings, refreshFrequentSubstrings } from "#lib/resident/upkeep.ts";
import { addReader } from "../steps/residents/reader.ts";
import { createDatabase } from "../steps/temporary-database.ts";

/** Spellings that look the same or differ only in marks; the first is the plain one. */
const groups = {
  blanks: [
    "SITI CASE",
    ...["\n", "\r\n", "\t", "  ", "\u00a0", "\u2003", "\u202f", "\u3000", "\u2028"].map(
      (gap) => `SITI${gap}CASE`,
    ),
  ],
  "invisible marks": [
    "BUDI CASE",
    ...["\u00ad", "\u200b", "\u200d", "\u200e", "\u202b", "\u2060", "\ufeff"].map(
      (mark) => `BU${mark}DI ${mark}CASE`,
    ),
  ],
  apostrophes: ["MARUF CASE", ..."'`´‘’‛ʼʻʾʿ′＇".split("").map((mark) => `MA${mark}RUF CASE`)],
  letters: ["JOSÉ CASE", "josé case", "JOSE\u0301 CASE", "JOSE\u200b\u0301 CASE", "ＪＯＳÉ ＣＡＳＥ"],
};
const names = Object.values(groups).flat();

let sql: postgres.Sql;
beforeEach(async () => {
  const database = await createDatabase();
  sql = database.connect("adminUrl");
  await addReader(sql);
  await sql`
    insert into resident.resident
      (nik, family_card_number, name, mother_name, address, hamlet, village, district, city)
    select '99' || lpad(i::text, 14, '0'), '', name, '', '', '', '', '', ''
    from json_array_elements_text(${JSON.stringify(names)}::text::json) with ordinality given (name, i)`;
});

const search = async (term: string, nik: string | null = null) => {
  const [page] = await sql<{ total: string; residents: { name: string }[] }[]>`
    select * from resident.search(${nik}, ${term}, 1, 100, 'p', 'k', 'r', ${nik && Buffer.alloc(32)},
      ${Buffer.alloc(32)}, 1)`;
  return { total: Number(page?.total), names: page?.residents.map(({ name }) => name).toSorted() };
};

test.each(Object.entries(groups))(
  "every spelling finds all that differ in %s, as they are stored, also by substring counts; verification takes them for one",
  async (_, spellings) => {
    const all = { total: spellings.length, names: spellings.toSorted() };
    for (const term of spellings) expect([term, await search(term.toLowerCase())]).toEqual([term, all]);
    await sql`select resident.rebuild_blocks()`;
    await refreshFrequentSubstrings(sql);
    while ((await countSubstrings(sql)) > 0);
    for (const term of spellings) expect([term, await search(term)]).toEqual([term, all]);
    const forms = await sql`
      select distinct resident.canonical_name(name)
      from json_array_elements_text(${JSON.stringify(spellings)}::text::json) name`;
    expect(forms).toHaveLength(1);
  },
);

test.each(["'", "’`", "\u200e", "\u200b"])("a name of marks alone, %j, finds nobody", async (term) => {
  for (const nik of [null, "9900000000000001"])
    expect(await search(term, nik)).toEqual({ total: 0, names: [] });
});

test("a name of the greatest length is stored, also if its letters become several that cannot be compressed", async () => {
  // each of the first becomes up to six letters
  const squares = Array.from({ length: 88 }, (_, i) => 0x33_00 + i);
  const ideographs = Array.from({ length: 412 }, (_, i) => 0x2_00_00 + ((i * i * 7_919 + i * 31) % 42_711));
  const letters = [...squares, ...ideographs];
  await sql`update resident.resident set name = ${String.fromCodePoint(...letters)} where id = 1`;
  await sql`update resident.resident set name = ${"ﷺ"} where id = 2`;
  expect(await search("صلى الله")).toMatchObject({ names: ["ﷺ"] });
});

test("three letters with a blank are found by blocks where few have them, by trigrams where all do", async () => {
  await sql`
    insert into resident.resident
      (nik, family_card_number, name, mother_name, address, hamlet, village, district, city)
    select '98' || lpad(i::text, 14, '0'), '', case when i % 7000 = 0 then 'JACOB SUSILO' when i % 4000 = 1 then 'SITI BARU' else 'BUDI SETIAWAN' end,
      '', '', '', '', '', ''
    from generate_series(1, 20000) i`;
  await sql`select resident.rebuild_blocks()`;
  await refreshFrequentSubstrings(sql);
  while ((await countSubstrings(sql)) > 0);
  await sql`vacuum analyze resident.resident`;
  const favoured = async (term: string) =>
    (await sql`select resident.favours_trigrams(${term}) as favoured`)[0]?.favoured;
  expect(await Promise.all(["b s", "x s", "i b", "cob"].map(favoured))).toEqual([false, false, true, true]);
  expect([await search("b s"), await search("x s")]).toEqual([
    { total: 2, names: ["JACOB SUSILO", "JACOB SUSILO"] },
    { total: 0, names: [] },
  ]);
  expect([(await search("i b")).total, (await search("i s")).total]).toEqual([5, 19_993]);
});
