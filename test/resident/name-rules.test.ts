import { expect, test } from "vitest";
import { languages } from "#lib/openapi/words.ts";
import { connectFor } from "../steps/connections.ts";
import { readGuideText } from "../steps/shell-lines.ts";

interface Rule {
  readonly kind: "title before" | "title behind" | "first word" | "word" | "letters";
  readonly written: string;
  readonly readAs: string;
}

const listRules = () => connectFor("adminUrl")<Rule[]>`
  select kind, written, read_as as "readAs" from resident.name_rule`;

/** Whether the database takes both names for one. @returns the pairs for which that is not as expected. */
const findWrong = async (pairs: readonly (readonly [string, string])[], expected: boolean) => {
  const rows = await connectFor("adminUrl")<{ one: string; other: string }[]>`
    select one, other
    from unnest(${pairs.map(([one]) => one)}::text[], ${pairs.map(([, other]) => other)}::text[]) pair (one, other)
    where (resident.canonical_name(one) = resident.canonical_name(other)) is distinct from ${expected}`;
  return rows.map(({ one, other }) => [one, other]);
};

const name = "Rahmat Hidayat";
const dotted = (title: string) => `${title.replace(/(^|\.)./g, (letter) => letter.toUpperCase())}.`;

/** How a clerk may write what a rule is about, and the name without it. */
const pairsOf = ({ kind, written, readAs }: Rule): [string, string][] => {
  if (kind === "title before")
    return [
      [`${dotted(written)} ${name}`, name],
      [`${written.replaceAll(".", "").toUpperCase()} ${name.toUpperCase()}`, name],
    ];
  if (kind === "title behind")
    return [
      [`${name}, ${dotted(written)}`, name],
      [`${name.toUpperCase()},${written.replaceAll(".", "").toUpperCase()}`, name],
    ];
  if (kind === "letters") return [[`Na${written}ana Su${written}o`, `Na${readAs}ana Su${readAs}o`]];
  return [[`${dotted(written)} ${name}`, `${readAs} ${name}`]];
};

test("every rule makes the spellings that it is about one, in more than 200 pairs", async () => {
  const pairs = (await listRules()).flatMap(pairsOf);
  expect(pairs.length).toBeGreaterThan(200);
  expect(await findWrong(pairs, true)).toEqual([]);
});

test("spellings of one person match", async () =>
  expect(
    await findWrong(
      [
        ["SITI AMINAH", "siti aminah"],
        ["Nur Hayati", "NURHAYATI"],
        ["Nur-Hayati", "Nur  Hayati"],
        ["Ma'ruf Amin", "Maruf Amin"],
        ["Ma’ruf Amin", "MA`RUF AMIN"],
        ["José Élène", "Jose Elene"],
        ["JOSÉ".normalize("NFD"), "jose"],
        ["Ｓｉｔｉ", "Siti"],
        ["Drs. H. Budi Santoso, S.H., M.M.", "Budi Santoso"],
        ["Prof. Dr. (H.C.) Ir. H. Budi Santoso", "BUDI SANTOSO"],
        ["dr.Budi Santoso,Sp.OG", "Budi Santoso"],
        ["Budi Santoso S.Kom", "Budi Santoso"],
        ["BUDI SANTOSO SH MM", "Budi Santoso"],
        ["Budi Santoso, S. Kom., M. M.", "Budi Santoso"],
        ["Budi Santoso S.E.", "Budi Santoso"],
        ["Budi Santoso, SE", "Budi Santoso"],
        ["KH. M. Yusuf", "Muhammad Yusuf"],
        ["K.H. Moh Yusuf", "Mohammad Yusuf"],
        ["M.Yusuf", "Muhammad Jusuf"],
        ["Soekarno", "Sukarno"],
        ["Djoko Soesilo", "Joko Susilo"],
        ["Tjahjono", "Cahyono"],
        ["Chairil Sjahrir", "Khairil Syahrir"],
        ["Njoman Widjaja", "Nyoman Wijaya"],
        ["Noor", "Noer"],
      ],
      true,
    ),
  ).toEqual([]));

test("different persons do not match", async () =>
  expect(
    await findWrong(
      [
        ["Siti Aminah", "Siti Amina"],
        ["Siti Aminah", "Aminah"],
        ["Siti Aminah", "Aminah Siti"],
        ["Siti", "Siti Aminah"],
        ["Budi Santoso", "Budi Susanto"],
        ["Budi Santoso", "Budi Santosa"],
        ["Budi Santoso", "Santoso"],
        ["Budi", "Rudi"],
        ["Muhammad Yusuf", "Yusuf"],
        ["M", "Muhammad"],
        ["Rahmat Moh", "Rahmat Muhammad"],
        ["Ahmad Yusuf", "Muhammad Yusuf"],
        ["Jack Ma", "Jack"],
        ["Ratu Se", "Ratu"],
        ["Budi, Santoso", "Budi"],
        ["Dr", "Ir"],
        ["Hj", "H"],
        ["Dewi Sri", "Dewi"],
        ["Ali", "Aly"],
        ["Fitri", "Vitri"],
        ["李明", "李"],
        ["%", "Budi"],
        ["B_di", "Budi"],
      ],
      false,
    ),
  ).toEqual([]));

test.each(languages)("the partner guide in %s has every rule", async (language) => {
  const guide = readGuideText(language, "partner").toLowerCase();
  for (const { written } of await listRules()) expect(guide).toContain(`\`${written}\``);
});

test("each of the seeded residents is told apart from every other", async () => {
  const twins = await connectFor("adminUrl")`
    select array_agg(name) as names from (select distinct lower(name) as name from resident.resident) one
    group by resident.canonical_name(name) having count(*) > 1`;
  expect(twins).toEqual([]);
});
