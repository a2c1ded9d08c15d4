import { Readable } from "node:stream";
import type postgres from "postgres";
import { beforeEach, expect, test } from "vitest";
import { Batch } from "#lib/import/batch.ts";
import { importCsv } from "#lib/import/import.ts";
import { storeBatch } from "#lib/import/load.ts";
import type { Content } from "#lib/import/table.ts";
import { residentImport } from "#lib/resident/import.ts";
import { inventResident } from "../../infra/local/seed/resident-rows.ts";
import { holdResident, untilImportersWait } from "../steps/residents/held-resident.ts";
import { residentCsv } from "../steps/residents/resident-csv.ts";
import { createDatabase, type TemporaryDatabase } from "../steps/temporary-database.ts";

let database: TemporaryDatabase;
let sql: postgres.Sql;
let importer: postgres.Sql;
let other: postgres.Sql;
beforeEach(async () => {
  database = await createDatabase();
  sql = database.connect("adminUrl");
  [importer, other] = [database.connect("importerUrl"), database.connect("importerUrl")];
});

const rows = (from: number, length: number) => Array.from({ length }, (_, i) => inventResident(from + i));
const nikOf = (row: Content | undefined) => row?.values[0] ?? "";

test("a row that another transaction stores meanwhile is updated, and the others are added", async () => {
  const given = rows(1, 50);
  const [first] = given;
  const third = await holdResident(database, nikOf(first));
  const stored = storeBatch(importer, residentImport, Batch.of(given));
  await untilImportersWait(sql, 1);
  await third`commit`;
  expect(await stored).toEqual({ inserted: 49, updated: 1, unchanged: 0, blank: 0 });
  const [row] = await sql`select name from resident.resident where nik = ${nikOf(first)}`;
  expect(row?.name).toBe(first?.values[2]);
});

/** The same residents under other names. */
const renamed = (given: readonly Content[]) =>
  given.map(({ values }) => ({ values: values.map((value, i) => (i === 2 ? `${value} BIN` : value)) }));
const countRenamed = async () =>
  (await sql<{ n: number }[]>`select count(*)::int as n from resident.resident where name like '% BIN'`)[0]
    ?.n;

test("two batches of new rows that deadlock are both stored, each row once", async () => {
  const third = await holdResident(database, nikOf(inventResident(4_002)));
  const stored = [
    storeBatch(importer, residentImport, Batch.of(renamed(rows(4_001, 3)))),
    storeBatch(other, residentImport, Batch.of(renamed(rows(4_001, 3)).toReversed())),
  ];
  await untilImportersWait(sql, 2);
  // the transaction that continues reaches the rows that the other one stored
  await third`rollback`;
  const counts = await Promise.all(stored);
  expect(counts.toSorted((a, b) => a.inserted - b.inserted)).toEqual([
    { inserted: 0, updated: 0, unchanged: 3, blank: 0 },
    { inserted: 3, updated: 0, unchanged: 0, blank: 0 },
  ]);
  expect(await countRenamed()).toBe(3);
});

test("a batch of known rows that deadlocks with another transaction is stored after it", async () => {
  const given = rows(5_001, 30);
  await storeBatch(importer, residentImport, Batch.of(given));
  const [first, last] = [given[0], given.at(-1)].map(nikOf);
  const update = (nik = "") => other`update resident.resident set name = 'LAIN' where nik = ${nik}`;
  await other`begin`;
  await update(last);
  const stored = storeBatch(importer, residentImport, Batch.of(renamed(given)));
  await untilImportersWait(sql, 1);
  // PostgreSQL ends the one that has waited for a second: the batch, unless the machine stood still meanwhile
  await update(first).then(
    () => other`commit`,
    () => other`rollback`,
  );
  expect(await stored).toEqual({ inserted: 0, updated: 30, unchanged: 0, blank: 0 });
  expect(await countRenamed()).toBe(30);
});

test("over two connections, the last of several rows with the same key is stored", async () => {
  // an odd number, so that rows with the same key are on odd and even lines
  const given = rows(1_001, 401);
  const early = given.map(({ values }) => ({
    values: values.map((value, i) => (i === 2 ? "LAMA" : value)),
  }));
  const counts = await importCsv(
    [importer, other],
    residentImport,
    () => Readable.from([Buffer.from(residentCsv([...early, ...given]))]),
    { onHeaders: () => {}, onRejections: () => {}, onProgress: () => {} },
    { lastWins: true },
  );
  expect(counts).toEqual({ inserted: 401, updated: 0, unchanged: 0, repeated: 401, blank: 0, rejected: 0 });
  const [row] = await sql`select count(*)::int as old from resident.resident where name = 'LAMA'`;
  expect(row?.old).toBe(0);
});

test("new and known rows of one batch are distinguished", async () => {
  const given = rows(2_001, 30).map((row) => ({
    ...row,
    values: row.values.map((value, i) => (i === 2 && row.line < 2_006 ? `${value} BIN` : value)),
  }));
  await storeBatch(importer, residentImport, Batch.of(rows(2_001, 20)));
  expect(await storeBatch(importer, residentImport, Batch.of(given))).toEqual({
    ...{ inserted: 10, updated: 5, unchanged: 15, blank: 0 },
  });
});

test("a known row is found among rows expected to be new", async () => {
  const [known, ...fresh] = rows(3_001, 21);
  if (!known) throw new Error("no rows");
  await storeBatch(importer, residentImport, Batch.of([known]));
  expect(await storeBatch(importer, residentImport, Batch.of([...fresh, known]), true)).toEqual({
    ...{ inserted: 20, updated: 0, unchanged: 1, blank: 0 },
  });
});

test("blank cells of known rows are counted where something is stored, and new rows get blank values", async () => {
  const [first, second] = rows(6_001, 2).map(({ values }) => values);
  const blank = (values: readonly (string | null)[] = []) => ({
    values: values.map((value, i) => (i === 3 || i === 4 ? null : value)),
  });
  await storeBatch(importer, residentImport, Batch.of([{ values: first ?? [] }]));
  expect(await storeBatch(importer, residentImport, Batch.of([blank(first), blank(second)]))).toEqual({
    ...{ inserted: 1, updated: 0, unchanged: 1, blank: 2 },
  });
  const stored = await sql`select mother_name, address from resident.resident order by id`;
  expect(stored.map((row) => [row.mother_name, row.address])).toEqual([
    [first?.[3], first?.[4]],
    ["", ""],
  ]);
});
