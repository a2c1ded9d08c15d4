import type postgres from "postgres";
import { expect, test } from "vitest";
import { chooseFrequentSubstrings, StringCounter } from "#lib/resident/frequent-substrings.ts";
import { connectFor } from "../steps/connections.ts";
import { Random } from "../steps/random.ts";
import { oddName, oddTerm } from "./odd-names.ts";

const random = new Random(20261);

/** The names as the column holds them, by PostgreSQL's own folding. */
const storedNames = async (sql: postgres.Sql, count: number): Promise<string[]> => {
  const names = Array.from({ length: count }, () => oddName(random));
  const rows = await sql<{ name: string }[]>`
    select resident.fold_name(value) as name
    from json_array_elements_text(${JSON.stringify(names)}::text::json)`;
  return rows.map(({ name }) => name);
};

/** How many of the names PostgreSQL itself finds by each term. */
const countByLike = async (sql: postgres.Sql, names: string[], terms: string[]): Promise<number[]> => {
  const rows = await sql<{ count: number }[]>`
    with names as materialized (
      select value collate "C" as name from json_array_elements_text(${JSON.stringify(names)}::text::json))
    select (select count(*)::int from names where name like resident.like_pattern(value)) as count
    from json_array_elements_text(${JSON.stringify(terms)}::text::json) with ordinality term (value, place)
    order by place`;
  return rows.map(({ count }) => count);
};

test("counts as LIKE does, for every string of one and two letters and the longer ones", async () => {
  const sql = connectFor("adminUrl");
  const names = await storedNames(sql, 300);
  const longer = [...new Set(Array.from({ length: 200 }, () => oddTerm(random, names).toLowerCase()))].filter(
    (term) => [...term].length > 2,
  );
  const counts = new StringCounter(longer).count(names);
  const everyGram = names.flatMap((name) => {
    const characters = [...name];
    return characters.flatMap((character, i) => [character, character + (characters[i + 1] ?? "")]);
  });
  const terms = [...new Set([...everyGram, ...longer, "zz", "😀😀", "日x"])];
  expect(terms.length).toBeGreaterThan(200);
  expect(terms.map((term) => [term, counts.get(term) ?? 0])).toEqual(
    (await countByLike(sql, names, terms)).map((count, i) => [terms[i], count]),
  );
  expect([...counts.keys()].filter((term) => !terms.includes(term))).toEqual([]);
});

test("starts at zero with every block", () => {
  const counter = new StringCounter(["siti"]);
  counter.count(["siti aminah", "siti"]);
  expect([...counter.count(["budi"])]).toEqual([
    ...([
      ["b", 1],
      ["bu", 1],
      ["u", 1],
      ["ud", 1],
      ["d", 1],
      ["di", 1],
      ["i", 1],
    ] as const),
  ]);
});

test("chooses the strings of three and more letters that enough names contain, most frequent first", async () => {
  const sql = connectFor("adminUrl");
  const names = await storedNames(sql, 400);
  const minimum = 20;
  const chosen = chooseFrequentSubstrings(names, minimum, 10_000);
  const counts = await countByLike(sql, names, chosen);
  expect(counts.every((count) => count >= minimum)).toBe(true);
  expect(counts).toEqual(counts.toSorted((a, b) => b - a));
  expect(chosen.every((term) => [...term].length > 2)).toBe(true);
  // none is left out: every string of every name, cut between code points, that enough names contain
  const all = new Set<string>();
  for (const name of names) {
    const characters = [...name];
    for (let from = 0; from < characters.length; from++)
      for (let to = from + 3; to <= Math.min(characters.length, from + 40); to++)
        all.add(characters.slice(from, to).join(""));
  }
  const frequent = [...all].filter((term) => names.filter((name) => name.includes(term)).length >= minimum);
  expect(chosen.toSorted()).toEqual(frequent.toSorted());
  expect(chooseFrequentSubstrings(names, minimum, 3)).toEqual(chosen.slice(0, 3));
});
