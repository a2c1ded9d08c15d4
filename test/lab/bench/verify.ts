import { createHash } from "node:crypto";
import type postgres from "postgres";
import { fillResidents, withResidentDatabase } from "./resident-database.ts";
import { measureOf, printTable, type Result } from "./result.ts";
import { timed } from "./timing.ts";

interface Claimed {
  readonly nik: string;
  readonly name: string;
}

/** Verifies as another partner each time, so that no limit is reached. @returns milliseconds. */
const verify = (sql: postgres.Sql, { nik, name }: Claimed, turn: number): Promise<number> => {
  const digest = createHash("sha256").update(`${nik} ${turn}`).digest();
  const claims = JSON.stringify({ name, mother_name: name });
  return timed(
    () => sql`select resident.verify(${nik}, ${claims}::text::json, ${`p${turn}`}, 'k', 'r', ${digest}, 1)`,
  );
};

/** The times of a verification about a number that nobody has, and about one with other values, in turns. */
export const benchVerify = ({ rows, requests }: { rows: number; requests: number }): Promise<Result> =>
  withResidentDatabase(async ({ connect }) => {
    const sql = connect();
    await fillResidents(sql, rows, (step) => console.error(step));
    const residents = await sql<{ nik: string }[]>`
      select nik from resident.resident tablesample bernoulli (100) order by md5(nik) limit ${requests}`;
    const name = "Tidak Sama Dengan Siapa Pun";
    const times = { unknown: [] as number[], mismatch: [] as number[], match: [] as number[] };
    for (let turn = 0; turn < requests; turn++) {
      const { nik = "" } = residents[turn % residents.length] ?? {};
      const [right] = await sql<{ name: string; mother: string }[]>`
        select name, mother_name as mother from resident.resident where nik = ${nik}`;
      times.unknown.push(await verify(sql, { nik: `00${nik.slice(2)}`, name }, turn));
      times.mismatch.push(await verify(sql, { nik, name }, turn));
      times.match.push(await verify(sql, { nik, name: right?.name ?? "" }, turn));
    }
    const figures = Object.fromEntries(Object.entries(times).map(([kind, all]) => [kind, measureOf(all)]));
    printTable(
      Object.entries(figures).map(([value, { median, low, high }]) => ({ value, median, low, high })),
    );
    return { bench: "verify", figures };
  });
