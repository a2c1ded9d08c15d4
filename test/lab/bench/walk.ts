import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type postgres from "postgres";
import { readStep } from "../../steps/residents/walk-step.ts";
import { fillResidents, withResidentDatabase } from "./resident-database.ts";
import { median, printTable, type Result } from "./result.ts";
import { compare, timed } from "./timing.ts";

/** Walks through all residents, each page a transaction with its audit row, and composes what a response contains. */
const walkAll = async (sql: postgres.Sql, size: number): Promise<number> => {
  let rows = 0;
  for (let after: string | null = "start"; after !== null; ) {
    const step = await readStep(sql, { after }, size, "p", "k", "BENCH");
    rows += step.ids.length;
    JSON.stringify(step);
    ({ after } = step);
  }
  return rows;
};

const copyAll = async (sql: postgres.Sql) =>
  pipeline(
    await sql.unsafe("copy resident.resident to stdout").readable(),
    new Writable({ write: (_, __, done) => done() }),
  );

/** Whole walks of one connection, as a ratio to a COPY of the table, in turns. */
export const benchWalk = ({ rows, rounds = 3 }: { rows: number; rounds?: number }): Promise<Result> =>
  withResidentDatabase(async ({ connect }) => {
    const sql = connect();
    await fillResidents(sql, rows, (step) => console.error(step));
    const ways = {
      COPY: () => copyAll(sql),
      "walk, 1,000 a page": () => walkAll(sql, 1_000),
      "walk, 100 a page": () => walkAll(sql, 100),
    };
    const times = Object.keys(ways).map((): number[] => []);
    for (let turn = 0; turn < rounds; turn++)
      for (const [i, read] of Object.values(ways).entries()) times[i]?.push(await timed(read));
    const [copy = []] = times;
    const table = Object.keys(ways).map((way, i) => ({
      way,
      "rows/s": Math.round(rows / (median(times[i] ?? []) / 1_000)),
      ...compare(times[i] ?? [], copy),
    }));
    printTable(table);
    return { bench: "walk", figures: { rows, ways: table } };
  });
