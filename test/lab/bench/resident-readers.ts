import type postgres from "postgres";
import { foldAllChanges } from "#lib/resident/upkeep.ts";
import { type ResidentDatabase, residentColumns } from "./resident-database.ts";
import { ours, pageSize } from "./resident-reads.ts";
import { measureOf } from "./result.ts";
import { percentile, timed } from "./timing.ts";

const readers = 16;
const writers = 4;
/** No other measurement inserts numbers from here on. */
const prefix = "96";

type Read = (sql: postgres.Sql) => PromiseLike<unknown>;

const listAt = (share: number): ((total: number) => Read) => {
  return (total) => (sql) => ours(sql, undefined, Math.max(1, Math.round((total / pageSize) * share)));
};

const byName =
  (name: string): (() => Read) =>
  () =>
  (sql) =>
    ours(sql, name, 1);

/** Of the first resident that was invented. */
const byNumber = (_: number, nik: string): Read => {
  return (sql) => sql`
    select * from resident.search(${nik}, null, 1, ${pageSize}, 'p', 'k', 'r', ${Buffer.alloc(32)}, null, 1, 'BENCH')`;
};

const kinds: Readonly<Record<string, (total: number, nik: string) => Read>> = {
  "list, first page": listAt(0),
  "list, middle page": listAt(0.5),
  "list, last page": listAt(1),
  "common name «siti»": byName("siti"),
  "rare «galih notonegoro»": byName("galih notonegoro"),
  "identity number": byNumber,
};

/** Repeats work on each connection for some time. @returns the milliseconds of each, in ascending order. */
const repeat = async (
  connections: readonly postgres.Sql[],
  work: Read,
  readMs: number,
): Promise<number[]> => {
  const times: number[] = [];
  const until = performance.now() + readMs;
  const one = async (sql: postgres.Sql) => {
    do times.push(await timed(() => work(sql)));
    while (performance.now() < until);
  };
  await Promise.all(connections.map(one));
  return times.toSorted((a, b) => a - b);
};

let next = 0;

/** Each row a transaction: one that is added, and one that gets another address. */
const write: Read = async (sql) => {
  next += 1;
  const nik = `${prefix}${String(next).padStart(14, "0")}`;
  await sql.unsafe(
    `insert into resident.resident (${residentColumns}) values ($1, '9971010101010001', 'SITI NUR AMINAH', 'IBU',
      'JL. MAWAR', 'D', 'V', 'K', 'C', now())`,
    [nik],
    { prepare: true },
  );
  await sql`update resident.resident set address = 'JL. MELATI' where nik = ${nik}`;
};

/** Works while each of the connections writes as fast as it can. @returns what the work returns, and the rows written a second. */
const besideWriters = async <T>(
  sqls: readonly postgres.Sql[],
  work: () => Promise<T>,
): Promise<readonly [T, rate: number]> => {
  let ended = false;
  const [before, started] = [next, performance.now()];
  const writing = sqls.map(async (sql) => {
    while (!ended) await write(sql);
  });
  try {
    const result = await work();
    return [result, (next - before) / ((performance.now() - started) / 1_000)];
  } finally {
    ended = true;
    await Promise.all(writing);
  }
};

/** Of all rounds together. */
const summarize = (name: string, rounds: readonly (readonly number[])[]) => {
  const times = rounds.flat().toSorted((a, b) => a - b);
  return { [`${name} p50 ms`]: percentile(times, 0.5), [`${name} p99 ms`]: percentile(times, 0.99) };
};

/** @returns the ratio of the percentiles of both, round by round. */
const compareAt = (
  share: number,
  measured: readonly (readonly number[])[],
  base: readonly (readonly number[])[],
) => measureOf(measured.map((times, turn) => percentile(times, share) / percentile(base[turn] ?? [], share)));

/**
 * Reads of one connection alone, of many at once, and of many beside writers, in turn: the processors are shared by all. Before
 * each round, the changes of the last one are applied, as the upkeep does it.
 */
export const measureReaders = async (
  { connect }: ResidentDatabase,
  { readMs, readRounds }: { readMs: number; readRounds: number },
) => {
  const connections = Array.from({ length: readers }, () => connect());
  const writing = Array.from({ length: writers }, () => connect());
  const [first, ...rest] = connections;
  if (!first) throw new Error("no connection");
  const [one] = await first<{ total: number; nik: string }[]>`
    select total, (select nik from resident.resident order by id limit 1) as nik
    from resident.list(1, 1, 'p', 'k', 'r', 'BENCH')`;
  const rows = [];
  for (const [name, make] of Object.entries(kinds)) {
    const read = make(one?.total ?? 0, one?.nik ?? "");
    await repeat([first, ...rest], read, 0); // not counted: plans that are still made
    const [alone, many, mixed]: [number[][], number[][], number[][]] = [[], [], []];
    const rates: number[] = [];
    while (mixed.length < readRounds) {
      await foldAllChanges(first);
      alone.push(await repeat([first], read, readMs));
      many.push(await repeat(connections, read, readMs));
      const [times, rate] = await besideWriters(writing, () => repeat(connections, read, readMs));
      mixed.push(times);
      rates.push(rate);
    }
    const p99Ratio = compareAt(0.99, mixed, many);
    rows.push({
      "16 readers": name,
      ...summarize("alone", alone),
      ...summarize("16", many),
      ...summarize("with writers", mixed),
      "p50 ratio": compareAt(0.5, mixed, many).median,
      "p99 ratio": p99Ratio.median,
      "written/s": Math.round(measureOf(rates).median),
      spread: p99Ratio,
    });
  }
  return rows;
};
