import { Readable } from "node:stream";
import type postgres from "postgres";
import { beforeEach, expect, test } from "vitest";
import { migrate } from "#lib/db/migrate.ts";
import { Batch } from "#lib/import/batch.ts";
import { importCsv } from "#lib/import/import.ts";
import { storeBatch } from "#lib/import/load.ts";
import { residentImport } from "#lib/resident/import.ts";
import { inventResident } from "../../infra/local/seed/residents.ts";
import { residentCsv } from "../steps/resident-csv.ts";
import { createDatabase } from "../steps/temporary-database.ts";

let sql: postgres.Sql;
let importer: postgres.Sql;
let other: postgres.Sql;
beforeEach(async () => {
  const database = await createDatabase();
  sql = database.connect("adminUrl");
  await migrate(sql);
  // so that what its connections wait for is shown
  await sql.unsafe("grant municipal_importer to current_user");
  [importer, other] = [database.connect("importerUrl"), database.connect("importerUrl")];
});

const rows = (from: number, length: number) => Array.from({ length }, (_, i) => inventResident(from + i));
const waiting = async () =>
  (
    await sql`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()
      and usename = 'municipal_importer'`
  ).length;

test("a row that somebody else stores meanwhile is updated, and the others are added", async () => {
  const given = rows(1, 50);
  const [first] = given;
  await other`begin`;
  await other`insert into resident.resident (nik, family_card_number, name, mother_name, address, hamlet, village,
    district, city) values (${first?.values[0] ?? ""}, '9971010101010001', 'LAMA', 'I', 'A', 'D', 'V', 'K', 'C')`;
  const stored = storeBatch(importer, residentImport, Batch.of(given));
  await expect.poll(waiting).toBe(1);
  await other`commit`;
  expect(await stored).toEqual({ inserted: 49, updated: 1, unchanged: 0, repeated: 0 });
  const [row] = await sql`select name from resident.resident where nik = ${first?.values[0] ?? ""}`;
  expect(row?.name).toBe(first?.values[2]);
});

test("over two connections the last of the rows with one key counts, wherever it stands", async () => {
  const given = rows(1_001, 400);
  const early = given.map(({ values }) => ({
    values: values.map((value, i) => (i === 2 ? "LAMA" : value)),
  }));
  const counts = await importCsv(
    [importer, other],
    residentImport,
    Readable.from([Buffer.from(residentCsv([...early, ...given]))]),
    { onHeaders: () => {}, onRefusals: () => {}, onProgress: () => {} },
  );
  expect(counts).toEqual({ inserted: 400, updated: 0, unchanged: 0, repeated: 400, refused: 0 });
  const [row] = await sql`select count(*)::int as old from resident.resident where name = 'LAMA'`;
  expect(row?.old).toBe(0);
});

test("new and known rows of one batch are told apart", async () => {
  const given = rows(2_001, 30).map((row) => ({
    ...row,
    values: row.values.map((value, i) => (i === 2 && row.line < 2_006 ? `${value} BIN` : value)),
  }));
  await storeBatch(importer, residentImport, Batch.of(rows(2_001, 20)));
  expect(await storeBatch(importer, residentImport, Batch.of(given))).toEqual({
    ...{ inserted: 10, updated: 5, unchanged: 15, repeated: 0 },
  });
});

test("a known row, and one that comes twice, are found among rows that were thought to be new", async () => {
  const [known, ...fresh] = rows(3_001, 21);
  if (!known) throw new Error("no rows");
  await storeBatch(importer, residentImport, Batch.of([known]));
  const given = Batch.of([...fresh, known, ...fresh.slice(0, 3)]);
  expect(await storeBatch(importer, residentImport, given, true)).toEqual({
    ...{ inserted: 20, updated: 0, unchanged: 1, repeated: 3 },
  });
});
