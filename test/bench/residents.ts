import { Readable } from "node:stream";
import type postgres from "postgres";
import { importCsv } from "#lib/import/import.ts";
import { residentImport } from "#lib/resident/import.ts";
import { profileBlocks, refreshVocabulary } from "#lib/resident/upkeep.ts";
import { inventResident } from "../../infra/local/seed/resident-rows.ts";
import { residentCsv } from "../steps/residents/resident-csv.ts";
import {
  copyCsv,
  fillResidents,
  type ResidentDatabase,
  residentColumns,
  withResidentDatabase,
} from "./resident-database.ts";
import { median, printTable, type Result } from "./result.ts";

const pageSize = 10;
/** Rows that are loaded on top begin here: none of them is there yet. */
const loadedFrom = 20_000_001;
const writers = 8;

/** How much is measured. */
export interface Effort {
  /** How often our query runs; the plain query runs as often as the time allows. */
  readonly samples: number;
  readonly plainMs: number;
  readonly writeMs: number;
  readonly writeRounds: number;
  readonly loadRows: number;
  readonly loadRounds: number;
}

const leastPlain = 3;
const full: Effort = {
  ...{ samples: 200, plainMs: 6_000 },
  ...{ writeMs: 2_000, writeRounds: 9 },
  ...{ loadRows: 1_000_000, loadRounds: 3 },
};

const round = (value: number): number => Number(value.toFixed(2));

const percentile = (sorted: readonly number[], share: number): number =>
  round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);

const timed = async (work: () => PromiseLike<unknown>): Promise<number> => {
  const started = performance.now();
  await work();
  return performance.now() - started;
};

interface Case {
  readonly name: string;
  /** Undefined: the list of all. */
  readonly term?: string;
  readonly page: "first" | "middle" | "last";
}

const search = (name: string, term: string, page: Case["page"] = "first"): Case => ({ name, term, page });

const cases: readonly Case[] = [
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

const ours = (sql: postgres.Sql, term: string | undefined, page: number) =>
  term === undefined
    ? sql<{ total: number }[]>`select * from resident.list(${page}, ${pageSize}, 'p', 'k', 'r')`
    : sql<{ total: number }[]>`
        select * from resident.search(null, ${term}, ${page}, ${pageSize}, 'p', 'k', 'r', null, ${Buffer.alloc(32)}, 1)`;

/** What an API does that counts on every request: with the same indexes, and the planner's own plans. */
const plain = async (sql: postgres.Sql, term: string | undefined, page: number) => {
  const where = term === undefined ? sql`` : sql`where name_search like ${`%${term}%`}`;
  const [row] = await sql<{ total: number }[]>`select count(*) as total from resident.resident ${where}`;
  await sql`
    select resident.mask(r) from (
      select * from resident.resident ${where} order by created_at desc, id desc
      offset ${(page - 1) * pageSize} limit ${pageSize}) r`;
  return row?.total;
};

const measureCase = async (sql: postgres.Sql, { name, term, page }: Case, { samples, plainMs }: Effort) => {
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
  };
};

/** Of both databases: the 100,000th is the last one of a million. */
const pagesOfBoth = [1, 1_000, 50_000, 100_000];

/** How much slower the same page of the list is with more residents, in turn. */
const measureGrowth = async (few: postgres.Sql, many: postgres.Sql, { samples }: Effort) => {
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

type Insert = (connection: Pick<postgres.Sql, "unsafe">) => PromiseLike<unknown>;

/** What each of eight writers does over and over, each row a transaction. */
const writing: Readonly<Record<string, (sql: postgres.Sql, insert: Insert) => PromiseLike<unknown>>> = {
  "as fast as they can": (sql, insert) => insert(sql),
  // where counts were updated in place, all would wait for one
  "in transactions of 5 ms": (sql, insert) =>
    sql.begin(async (transaction) => {
      await insert(transaction);
      await transaction`select pg_sleep(0.005)`;
    }),
};

/** The ratios of two measures, round by round, and their median. */
const compare = (measured: readonly number[], base: readonly number[]) => {
  const ratios = measured.map((value, turn) => value / (base[turn] ?? Number.NaN));
  return { ratio: round(median(ratios)), ratios: ratios.map(round).join(" ") };
};

/** Rows a second of eight writers with the triggers and without, in turn, and the median of their ratios. */
const measureWriters = async ({ connect }: ResidentDatabase, { writeMs, writeRounds }: Effort) => {
  const admin = connect();
  const sql = connect(writers);
  let next = 0;
  const insert: Insert = (connection) => {
    next += 1;
    return connection.unsafe(
      `insert into resident.resident (${residentColumns}) values ($1, '9971010101010001', 'SITI NUR AMINAH', 'IBU',
        'JL. MAWAR', 'D', 'V', 'K', 'C', now())`,
      [`97${String(next).padStart(14, "0")}`],
      { prepare: true },
    );
  };
  const rate = async (write: (typeof writing)[string]) => {
    const until = performance.now() + writeMs;
    let written = 0;
    const writer = async () => {
      for (; performance.now() < until; written++) await write(sql, insert);
    };
    await Promise.all(Array.from({ length: writers }, writer));
    return Math.round((written / writeMs) * 1_000);
  };
  const enable = (verb: string) => admin.unsafe(`alter table resident.resident ${verb} trigger note_insert`);
  const rows = [];
  for (const [name, write] of Object.entries(writing)) {
    await rate(write); // not counted
    const [without, withTriggers]: [number[], number[]] = [[], []];
    for (let turn = 0; turn < writeRounds; turn++) {
      await enable("disable");
      without.push(await rate(write));
      await enable("enable always");
      withTriggers.push(await rate(write));
    }
    rows.push({
      "eight writers": name,
      "rows/s without triggers": median(without),
      "with triggers": median(withTriggers),
      ...compare(withTriggers, without),
    });
  }
  return rows;
};

const bytesPerRead = 65_536;

/** As a file is read. */
const pieces = (csv: Buffer): Readable =>
  Readable.from(
    Array.from({ length: Math.ceil(csv.length / bytesPerRead) }, (_, i) =>
      csv.subarray(i * bytesPerRead, (i + 1) * bytesPerRead),
    ),
  );

/**
 * Microseconds for each row of a CSV file of a million: a bare COPY into a table without any index, the same into the
 * table of all residents, with its indexes and triggers, and an import into that, with all its checks, over two
 * connections as the command has them. In turn, round by round; rows are invented beforehand.
 */
const measureLoad = async (
  { connect, connectAsImporter }: ResidentDatabase,
  { loadRows, loadRounds }: Effort,
) => {
  const sql = connect();
  const importers = [connectAsImporter(), connectAsImporter()];
  await sql`create table bare (like resident.resident including generated including identity
    including defaults including constraints)`;
  let from = loadedFrom;
  const inventCsv = () =>
    Buffer.from(residentCsv(Array.from({ length: loadRows }, () => inventResident(from++))));
  const silent = { onHeaders: () => {}, onRejections: () => {}, onProgress: () => {} };
  const ways = {
    "bare COPY": (csv: Buffer) => copyCsv(sql, "bare", pieces(csv)),
    "COPY with indexes and triggers": (csv: Buffer) => copyCsv(sql, "resident.resident", pieces(csv)),
    import: (csv: Buffer) => importCsv(importers, residentImport, pieces(csv), silent),
  };
  const times = Object.keys(ways).map((): number[] => []);
  for (let turn = 0; turn < loadRounds; turn++)
    for (const [i, load] of Object.values(ways).entries()) {
      const csv = inventCsv();
      times[i]?.push(await timed(() => load(csv)));
    }
  const [bare = []] = times;
  return Object.keys(ways).map((way, i) => ({
    way,
    "µs/row": Number((median(times[i] ?? []) / (loadRows / 1_000)).toFixed(1)),
    ...compare(times[i] ?? [], bare),
  }));
};

/**
 * Measures list and search as the functions call them against count(*) and OFFSET on the same rows, in turn in
 * one run, on one connection; the same pages beside a second database; and what the counting costs writers.
 *
 * @param options `rows`: residents; `beside`: those of the second database, from a million on.
 */
export const benchResidents = async ({
  rows,
  beside,
  effort = full,
}: {
  rows: number;
  beside?: number | undefined;
  effort?: Effort;
}): Promise<Result> => {
  const onStep = (step: string) => console.error(`${step} …`);
  return withResidentDatabase(async (database) => {
    const sql = database.connect();
    await fillResidents(sql, rows, onStep);
    const growth =
      beside &&
      (await withResidentDatabase(async (other) => {
        const few = other.connect();
        await fillResidents(few, beside, onStep);
        return measureGrowth(few, sql, effort);
      }));
    if (growth) printTable(growth);
    onStep("profiles");
    const profileSeconds = await timed(async () => {
      await refreshVocabulary(sql);
      while ((await profileBlocks(sql)) > 0);
    });
    await sql`vacuum (analyze) resident.name_profile`;
    const reads = [];
    for (const one of cases) reads.push(await measureCase(sql, one, effort));
    printTable(reads);
    const writes = await measureWriters(database, effort);
    printTable(writes);
    const load = await measureLoad(database, effort);
    printTable(load);
    const figures = {
      rows,
      profileSeconds: Math.round(profileSeconds / 1_000),
      reads,
      ...(growth && { growthFrom: beside, growth }),
      writes,
      load,
    };
    return { bench: `residents-${rows}`, figures };
  });
};
