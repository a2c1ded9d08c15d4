import type postgres from "postgres";
import { measureOf, median } from "./result.ts";
import { percentile, round, timed } from "./timing.ts";

export const pageSize = 10;
const leastPlain = 3;

interface Case {
  readonly name: string;
  /** Undefined: the list of all. */
  readonly term?: string;
  readonly page: "first" | "middle" | "last";
}

const search = (name: string, term: string, page: Case["page"] = "first"): Case => ({ name, term, page });

export const cases: readonly Case[] = [
  { name: "list, first page", page: "first" },
  { name: "list, middle page", page: "middle" },
  { name: "list, last page", page: "last" },
  search("one letter «a»", "a", "middle"),
  search("two letters «an»", "an", "middle"),
  search("common name «siti», first page", "siti"),
  search("common name «siti», middle page", "siti", "middle"),
  search("common name «siti», last page", "siti", "last"),
  search("two common words «siti nur»", "siti nur"),
  search("two common words «siti nur», last page", "siti nur", "last"),
  search("across words «ti nu»", "ti nu"),
  search("rarer words «siti kusuma»", "siti kusuma"),
  search("rare «galih notonegoro»", "galih notonegoro"),
  search("nobody «zzqy»", "zzqy"),
];

/** As the partner whose agreement `withResidentDatabase` stores. */
export const list = (sql: postgres.ISql, page: number, size = pageSize) =>
  sql<{ total: number }[]>`select * from resident.list(${page}, ${size}, 'p', 'k', 'r', 'BENCH')`;

export const searchByName = (sql: postgres.ISql, term: string, page: number) =>
  sql<{ total: number }[]>`
    select * from resident.search(null, ${term}, ${page}, ${pageSize}, 'p', 'k', 'r', null, ${Buffer.alloc(32)}, 1, 'BENCH')`;

export const ours = (sql: postgres.Sql, term: string | undefined, page: number) =>
  term === undefined ? list(sql, page) : searchByName(sql, term, page);

/** What an API does that counts on every request: with the same indexes, and the planner's own plans. */
const plain = async (sql: postgres.Sql, term: string | undefined, page: number) => {
  const where = term === undefined ? sql`` : sql`where name_search like ${`%${term}%`}`;
  const [row] = await sql<{ total: number }[]>`select count(*) as total from resident.resident ${where}`;
  await sql`
    select resident.mask(r, null) from (
      select * from resident.resident ${where} order by created_at desc, id desc
      offset ${(page - 1) * pageSize} limit ${pageSize}) r`;
  return row?.total;
};

export const measureCase = async (
  sql: postgres.Sql,
  { name, term, page }: Case,
  { samples, plainMs }: { samples: number; plainMs: number },
) => {
  const [first] = await ours(sql, term, 1);
  const total = first?.total ?? 0;
  const pages = Math.max(1, Math.ceil(total / pageSize));
  const number = { first: 1, middle: Math.ceil(pages / 2), last: pages }[page];
  for (let i = 0; i < 10; i++) await ours(sql, term, number); // not counted: plans that are still made
  const oursMs: number[] = [];
  const plainTimes: number[] = [];
  const until = performance.now() + plainMs;
  while (oursMs.length < samples) {
    if (plainTimes.length < leastPlain || performance.now() < until)
      plainTimes.push(
        await timed(async () => {
          if ((await plain(sql, term, number)) !== total) throw new Error(`${name}: the totals differ`);
        }),
      );
    for (let i = 0; i < 10; i++) oursMs.push(await timed(() => ours(sql, term, number)));
  }
  const [sorted, plainSorted] = [oursMs, plainTimes].map((times) => times.toSorted((a, b) => a - b));
  const p50 = percentile(sorted ?? [], 0.5);
  const plainP50 = percentile(plainSorted ?? [], 0.5);
  return {
    case: name,
    matches: total,
    "plain ms": plainP50,
    "p50 ms": p50,
    "p99 ms": percentile(sorted ?? [], 0.99),
    "times faster": Number((plainP50 / p50).toFixed(1)),
    spread: measureOf(oursMs),
  };
};

/** Of both databases: the 100,000th is the last one of a million. */
const pagesOfBoth = [1, 1_000, 50_000, 100_000];

/** How much slower the same page of the list is with more residents, in turn. */
export const measureGrowth = async (
  few: postgres.Sql,
  many: postgres.Sql,
  { samples }: { samples: number },
) => {
  const rows = [];
  for (const page of pagesOfBoth) {
    const [fewMs, manyMs]: [number[], number[]] = [[], []];
    for (let i = 0; i < samples; i++) {
      fewMs.push(await timed(() => ours(few, undefined, page)));
      manyMs.push(await timed(() => ours(many, undefined, page)));
    }
    const [a, b] = [median(fewMs), median(manyMs)];
    rows.push({ page, "p50 ms of few": round(a), "p50 ms of many": round(b), growth: round(b / a) });
  }
  return rows;
};
