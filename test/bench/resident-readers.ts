import type postgres from "postgres";
import { type ResidentDatabase, residentColumns } from "./resident-database.ts";
import { ours, pageSize } from "./resident-reads.ts";
import { percentile, round, timed } from "./timing.ts";

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
    select * from resident.search(${nik}, null, 1, ${pageSize}, 'p', 'k', 'r', ${Buffer.alloc(32)}, null, 1)`;
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

/** Works while each of the connections writes as fast as it can. */
const besideWriters = async <T>(sqls: readonly postgres.Sql[], work: () => Promise<T>): Promise<T> => {
  let ended = false;
  const writing = sqls.map(async (sql) => {
    while (!ended) await write(sql);
  });
  try {
    return await work();
  } finally {
    ended = true;
    await Promise.all(writing);
  }
};

/** Reads of one connection alone, of many at once, and of many beside writers: the processors are shared by all. */
export const measureReaders = async ({ connect }: ResidentDatabase, { readMs }: { readMs: number }) => {
  const connections = Array.from({ length: readers }, () => connect());
  const writing = Array.from({ length: writers }, () => connect());
  const [first, ...rest] = connections;
  if (!first) throw new Error("no connection");
  const [one] = await first<{ total: number; nik: string }[]>`
    select total, (select nik from resident.resident order by id limit 1) as nik
    from resident.list(1, 1, 'p', 'k', 'r')`;
  const rows = [];
  for (const [name, make] of Object.entries(kinds)) {
    const read = make(one?.total ?? 0, one?.nik ?? "");
    await repeat([first, ...rest], read, 0); // not counted: plans that are still made
    const alone = await repeat([first], read, readMs);
    const many = await repeat(connections, read, readMs);
    const mixed = await besideWriters(writing, () => repeat(connections, read, readMs));
    const p99s = [alone, many, mixed].map((times) => percentile(times, 0.99));
    rows.push({
      "16 readers": name,
      "alone p50 ms": percentile(alone, 0.5),
      "p99 ms": p99s[0] ?? 0,
      "16 p50 ms": percentile(many, 0.5),
      "16 p99 ms": p99s[1] ?? 0,
      "with writers p50 ms": percentile(mixed, 0.5),
      "with writers p99 ms": p99s[2] ?? 0,
      "p50 ratio": round(percentile(mixed, 0.5) / percentile(many, 0.5)),
      "p99 ratio": round((p99s[2] ?? 0) / (p99s[1] ?? 1)),
    });
  }
  return rows;
};
