import { parseArgs } from "node:util";
import type postgres from "postgres";
import { storeBatch } from "#lib/import/load.ts";
import { residentImport } from "#lib/resident/import.ts";
import { profileBlocks, refreshVocabulary } from "#lib/resident/upkeep.ts";
import { inventResident } from "../../infra/local/seed/residents.ts";
import {
  copyRows,
  fillResidents,
  type ResidentDatabase,
  residentColumns,
  withResidentDatabase,
} from "./resident-database.ts";
import { printTable, writeResult } from "./result.ts";

const pageSize = 10;
/** Rows that are loaded on top begin here: none of them is there yet. */
const loadedFrom = 20_000_001;
/** Ours is asked this often, the plain way as often as it can within the time. */
const samples = 200;
const plainMs = 6_000;
const leastPlain = 3;

const writers = 8;
const writeMs = 5_000;
const writeRounds = 3;

const percentile = (sorted: readonly number[], share: number): number =>
  Number((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(2));

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

const measureCase = async (sql: postgres.Sql, { name, term, page }: Case) => {
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

/** Rows a second of eight writers, each row a transaction, with the triggers and without, in turn. */
const measureWriters = async ({ connect }: ResidentDatabase) => {
  const admin = connect();
  const sql = connect(writers);
  let next = 0;
  const insert = () => {
    next += 1;
    return sql.unsafe(
      `insert into resident.resident (${residentColumns}) values ($1, '9971010101010001', 'SITI NUR AMINAH', 'IBU',
        'JL. MAWAR', 'D', 'V', 'K', 'C', now())`,
      [`97${String(next).padStart(14, "0")}`],
      { prepare: true },
    );
  };
  const rate = async () => {
    const until = performance.now() + writeMs;
    let written = 0;
    const writer = async () => {
      for (; performance.now() < until; written++) await insert();
    };
    await Promise.all(Array.from({ length: writers }, writer));
    return Math.round((written / writeMs) * 1_000);
  };
  const enable = (verb: string) => admin.unsafe(`alter table resident.resident ${verb} trigger note_insert`);
  await rate(); // not counted
  const rounds: { "without triggers/s": number; "with triggers/s": number; ratio: number }[] = [];
  for (let round = 0; round < writeRounds; round++) {
    await enable("disable");
    const without = await rate();
    await enable("enable always");
    const withTriggers = await rate();
    rounds.push({
      "without triggers/s": without,
      "with triggers/s": withTriggers,
      ratio: Number((withTriggers / without).toFixed(2)),
    });
  }
  return rounds;
};

const batchRows = 20_000;
const loadBatches = 10;

const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);

/**
 * Microseconds for each row of an import, with all indexes and triggers and into the table of all residents,
 * and of a bare COPY into a table without any, in turn, batch by batch. Rows are invented beforehand.
 */
const measureLoad = async ({ connect, connectAsImporter }: ResidentDatabase) => {
  const [sql, importer] = [connect(), connectAsImporter()];
  await sql`create table bare (like resident.resident including generated including identity
    including defaults including constraints)`;
  const [copied, imported]: [number[], number[]] = [[], []];
  for (let batch = 0; batch < loadBatches; batch++) {
    const rows = Array.from({ length: batchRows }, (_, i) =>
      inventResident(loadedFrom + batch * batchRows + i),
    );
    copied.push(await timed(() => copyRows(sql, "bare", rows)));
    imported.push(await timed(() => storeBatch(importer, residentImport, rows)));
  }
  const perRow = (times: number[]) => Number(((sum(times) / (loadBatches * batchRows)) * 1_000).toFixed(1));
  return {
    rows: loadBatches * batchRows,
    "bare COPY µs/row": perRow(copied),
    "import µs/row": perRow(imported),
    ratio: Number((sum(imported) / sum(copied)).toFixed(2)),
  };
};

/**
 * Measures list and search as the functions call them against count(*) and OFFSET on the same rows, in turn in
 * one run, on one connection; and what the counting costs writers.
 *
 * @param args `--rows <n>`, residents.
 */
export const benchResidents = async (args: string[]) => {
  const { values } = parseArgs({ args, options: { rows: { type: "string", default: "1000000" } } });
  const rows = Number(values.rows);
  if (!Number.isInteger(rows) || rows < 1) throw new Error("--rows must be a whole number from 1");
  await withResidentDatabase(async (database) => {
    const sql = database.connect();
    const onStep = (step: string) => console.log(`${step} …`);
    await fillResidents(sql, rows, onStep);
    onStep("profiles");
    const profileSeconds = await timed(async () => {
      await refreshVocabulary(sql);
      while ((await profileBlocks(sql)) > 0);
    });
    await sql`vacuum (analyze) resident.name_profile`;
    const reads = [];
    for (const one of cases) reads.push(await measureCase(sql, one));
    printTable(reads);
    const writes = await measureWriters(database);
    printTable(writes);
    const load = await measureLoad(database);
    printTable([load]);
    writeResult(`residents-${rows}`, {
      rows,
      profileSeconds: Math.round(profileSeconds / 1_000),
      reads,
      writes,
      load,
    });
  });
};
