import type { Section } from "../case.ts";
import { expectInvalid, expectRule } from "../mismatch.ts";
import { Skipped } from "../skipped.ts";
import type { System } from "../system.ts";
import { needs, readNewest, readPage, search } from "./resident-page.ts";

const wrongNiks = [
  "9".repeat(15),
  "9".repeat(17),
  "99990101O1000002",
  "９".repeat(16),
  `${"9".repeat(16)}\n1`,
  9_999,
  null,
  ["9"],
  {},
  true,
];
const nobodies = ["%%", "a%b", "__", "\\\\", "' or 1=1 --", "$1", "kembar*"];
const wrongNames = [7, null, ["a"], {}, false, "a\u0000b", "a\nb", "x".repeat(101)];
const nothings = [
  undefined,
  {},
  { p_nik: "" },
  { p_nama: "" },
  { p_nik: " ", p_nama: " " },
  { page_size: 5 },
];

/** A well-formed NIK that is never issued. */
const nobody = "9999999999999999";

const expectNobody = async (system: System, body: object, about: string) => {
  const answer = await search(system, body, about);
  const { total } = readPage(answer);
  expectRule(answer, total === 0, "no rows", `${total} rows`);
};

export const residentSearch: Section = {
  title: "Resident: search",
  cases: [
    {
      name: "finds residents by part of a name, regardless of case",
      needs,
      fix: "Search the log of resident-search for the request id; check resident.read_search in lib/db/functions/resident.",
      check: async (system) => {
        const { data } = await readNewest(system, 20);
        const part = data
          .map(({ nama }) => /[A-Za-z]{3,6}/.exec(nama)?.[0])
          .find((found) => found !== undefined);
        if (!part) throw new Skipped("none of the newest names has three letters of A to Z in a row");
        for (const p_nama of [part.toLowerCase(), part.toUpperCase()]) {
          const answer = await search(system, { p_nama }, "part of a name");
          const page = readPage(answer);
          expectRule(answer, page.total > 0, "at least one row", "none");
          const all = page.data.every(({ nama }) => nama.toLowerCase().includes(part.toLowerCase()));
          expectRule(answer, all, "only names with this part", "other names too");
        }
      },
    },
    {
      name: "treats %, _ and \\ in a name as literal characters",
      needs,
      fix: "Check that resident.read_search in lib/db/functions/resident escapes LIKE wildcards.",
      check: async (system) => {
        for (const p_nama of nobodies) await expectNobody(system, { p_nama }, p_nama);
      },
    },
    {
      name: "returns no rows for an unknown NIK, alone or with a name",
      needs,
      fix: "Check that resident.read_search in lib/db/functions/resident combines both filters with AND.",
      check: async (system) => {
        for (const beside of [{}, { p_nama: "a" }, { p_nama: " " }])
          await expectNobody(system, { p_nik: nobody, ...beside }, "an unknown NIK");
      },
    },
    {
      name: "rejects a NIK that is not a string of 16 digits",
      needs,
      fix: "Check the schema of p_nik in lib/routes/resident.ts.",
      check: async (system) => {
        for (const p_nik of wrongNiks)
          expectInvalid(
            await search(system, { p_nik }, `p_nik ${JSON.stringify(p_nik)}`),
            "p_nik",
            "p_nik must be a string of exactly 16 digits",
          );
      },
    },
    {
      name: "rejects a name that is not a string, is too long or contains control characters",
      needs,
      fix: "Check the schema of p_nama in lib/routes/resident.ts.",
      check: async (system) => {
        for (const p_nama of wrongNames)
          expectInvalid(
            await search(system, { p_nama }, `p_nama ${JSON.stringify(p_nama).slice(0, 10)}`),
            "p_nama",
            "p_nama must be a string of at most 100 characters",
          );
      },
    },
    {
      name: "rejects a search without a NIK and a name",
      needs,
      fix: "Check the search schema in lib/routes/resident.ts.",
      check: async (system) => {
        for (const body of nothings)
          expectInvalid(await search(system, body, JSON.stringify(body) ?? "no body"));
      },
    },
    {
      name: "rejects wrong page numbers like the list",
      needs,
      fix: "Check the paging schema in lib/routes/resident.ts.",
      check: async (system) => {
        const answer = await search(system, { p_nama: "a", page_size: "10" }, "a quoted page_size");
        expectInvalid(answer, "page_size");
      },
    },
  ],
};
