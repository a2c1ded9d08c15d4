import type postgres from "postgres";
import { type ResidentDatabase, residentColumns } from "./resident-database.ts";
import { median } from "./result.ts";
import { compare } from "./timing.ts";

const writers = 8;

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

/** Rows a second of eight writers with the triggers and without, in turn, and the median of their ratios. */
export const measureWriters = async (
  { connect }: ResidentDatabase,
  { writeMs, writeRounds }: { writeMs: number; writeRounds: number },
) => {
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
  const enable = (verb: string) =>
    admin.unsafe(`alter table resident.resident ${verb} trigger record_insert`);
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
