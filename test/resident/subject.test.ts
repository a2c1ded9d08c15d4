import type postgres from "postgres";
import { beforeEach, describe, expect, test } from "vitest";
import { Batch } from "#lib/import/batch.ts";
import { clearWithBlanks } from "#lib/import/import.ts";
import { storeBatch } from "#lib/import/load.ts";
import { sealReads } from "#lib/maintenance/audit.ts";
import { beginImport, residentImport } from "#lib/resident/import.ts";
import { recountBlocks } from "#lib/resident/recount.ts";
import {
  type Act,
  correctSubject,
  eraseSubject,
  importRunning,
  otherPepper,
  reportSubject,
  restrictSubject,
} from "#lib/resident/subject.ts";
import { addReader } from "../steps/residents/reader.ts";
import { insertSeries, nikOf } from "../steps/residents/resident-series.ts";
import { createDatabase, type TemporaryDatabase } from "../steps/temporary-database.ts";

let database: TemporaryDatabase;
let admin: postgres.Sql;
let subject: postgres.Sql;

beforeEach(async () => {
  database = await createDatabase();
  admin = database.connect("adminUrl");
  await addReader(admin);
  await insertSeries(admin, 1, 30);
  subject = database.connect("subjectUrl");
});

const nik = nikOf(7);
const digestOf = (number: string) => Buffer.from(number.repeat(2));

const act = (given: Partial<Act> = {}): Act => ({
  nik,
  nikDigest: digestOf(given.nik ?? nik),
  pepperVersion: 1,
  operator: "Rina",
  reason: "the citizen objects",
  caseReference: "K-1",
  requestId: "request",
  ...given,
});

/** What partners see of a resident by each way. */
const look = async (sql: postgres.Sql, number = nik) => {
  const digest = digestOf(number);
  const claim = JSON.stringify({ name: `Siti ${Number(number.slice(2))}` });
  const [found] = await sql<{ list: number; shown: number; search: number; verified: boolean }[]>`
    with page as (select * from resident.list(1, 100, 'p', 'k', 'r'))
    select total::int as list, (residents::text like ${`%${number}%`})::int as shown,
      (resident.search(${number}, null, 1, 10, 'p', 'k', 'r', ${digest}, null, 1)).total::int as search,
      (resident.verify(${number}, ${claim}::text::json, 'p', 'k', 'r', ${digest}, 1) ->> 'name')::boolean as verified
    from page`;
  return found;
};
const seen = { list: 30, shown: 1, search: 1, verified: true };
const unseen = { list: 29, shown: 0, search: 0, verified: false };

const upsert = (sql: postgres.Sql, { name = "SITI 7", address = "A", village = "V" }) =>
  sql`
    insert into resident.resident as known
      (nik, family_card_number, name, mother_name, address, hamlet, village, district, city)
    values (${nik}, '9971010101010001', ${name}, 'I', ${address}, ${nik}, ${village}, 'K', 'C')
    on conflict (nik) do update set name = excluded.name, address = excluded.address, village = excluded.village`;
const stored = async (table = "resident") =>
  (
    await admin.unsafe(`
      select record.id::int, record.name, record.address, record.village from resident.${table} held
      cross join jsonb_populate_record(null::resident.record, ${table === "resident" ? "to_jsonb(held)" : "record"}) record
      where held.nik = '${nik}'`)
  )[0];
/** Residents as a file has them, by number and village. */
const batchOf = (...rows: [number: string, village: string | null, name?: string][]) =>
  Batch.of(
    rows.map(([number, village, name = `SITI ${Number(number.slice(2))}`]) => ({
      values: [number, "9971010101010001", name, "I", "A", number, village, "K", "C", null],
    })),
  );
/** Resolves once a session of the role waits for a row. */
const waitFor = (role: string) =>
  expect
    .poll(async () => {
      const [row] = await admin`
        select from pg_locks l join pg_stat_activity a using (pid) where not l.granted and a.usename = ${role}`;
      return row !== undefined;
    })
    .toBe(true);
const acts = async () =>
  (
    await admin<{ act: string }[]>`
    select concat_ws(' ', route, row_count, audit.decode_ids(shown), purpose, case_reference, user_reference) as act
    from audit.resident_read where route like 'subject-%' order by id`
  ).map((one) => one.act);

test("of many who come back, each is looked for once among those who have left", async () => {
  await insertSeries(admin, 31, 470);
  const numbers = Array.from({ length: 500 }, (_, i) => nikOf(i + 1));
  const importer = database.connect("importerUrl");
  await importer`select resident.mark_left(string_to_array(${numbers.join()}, ','))`;
  await admin`begin`;
  await insertSeries(admin, 1, 500);
  const [read] = await admin<{ rows: number }[]>`
    select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows from pg_stat_xact_user_tables
    where relname = 'withheld_resident'`;
  await admin`commit`;
  expect(read?.rows).toBeLessThan(5_000);
  expect(await admin`select from resident.withheld_resident`).toHaveLength(0);
  expect(await admin`select from resident.resident where id = substr(nik, 3)::bigint`).toHaveLength(500);
  expect(await recountBlocks(admin)).toEqual([]);
});

test("nobody is erased and added again by an import that loses a connection, also while that is idle", async () => {
  const connections = [database.connect("importerUrl"), database.connect("importerUrl")] as const;
  const [one, other] = connections;
  const begun = await beginImport(connections, async () => undefined);
  const end = async (sql: postgres.Sql) => {
    const [{ pid } = { pid: 0 }] = await sql<{ pid: number }[]>`
      select set_config('idle_session_timeout', '1', false), pg_backend_pid() as pid`;
    await expect.poll(() => admin`select from pg_stat_activity where pid = ${pid}`).toHaveLength(0);
  };
  await end(one);
  await expect(eraseSubject(subject, act(), false)).rejects.toMatchObject({ code: importRunning });
  await end(other);
  await eraseSubject(subject, act(), false);
  for (const sql of connections)
    await expect(storeBatch(sql, begun, batchOf([nik, "V"]))).rejects.toMatchObject({
      code: "CONNECTION_CLOSED",
    });
  expect(await stored()).toBeUndefined();
});

describe("a restricted resident", () => {
  test("is absent from list, search, verification and total, and returns with the same id", async () => {
    expect(await look(admin)).toEqual(seen);
    expect(await restrictSubject(subject, act(), false)).toEqual({ state: "stored", id: 7, done: true });
    expect(await look(admin)).toEqual(unseen);
    expect(await restrictSubject(subject, act(), false)).toEqual({ state: "restricted", id: 7, done: false });
    expect(await restrictSubject(subject, act(), true)).toEqual({ state: "restricted", id: 7, done: true });
    expect(await look(admin)).toEqual(seen);
    expect(await stored()).toMatchObject({ id: 7, name: "SITI 7" });
    expect(await recountBlocks(admin)).toEqual([]);
    expect(await acts()).toEqual(
      ["restrict 1", "restrict 0", "lift 1"].map((one) => `subject-${one} {7} the citizen objects K-1 Rina`),
    );
  });

  test("stays absent when it is imported, and the kept row has the imported values", async () => {
    await restrictSubject(subject, act(), false);
    await upsert(database.connect("importerUrl"), { village: "W" });
    expect(await look(admin)).toEqual(unseen);
    expect(await stored("withheld_resident")).toMatchObject({ id: 7, village: "W" });
    expect(await recountBlocks(admin)).toEqual([]);
  });

  test("keeps a value for which an import has a blank cell, unless blank cells clear", async () => {
    const importer = database.connect("importerUrl");
    await restrictSubject(subject, act(), false);
    await storeBatch(importer, residentImport, batchOf([nik, null]));
    expect(await stored("withheld_resident")).toMatchObject({ village: "V" });
    const clearing = await clearWithBlanks([importer], residentImport);
    await storeBatch(importer, clearing, batchOf([nik, ""]));
    expect(await stored("withheld_resident")).toMatchObject({ village: "", name: "SITI 7" });
  });

  test("stays absent when an import has a snapshot from before: it fails, and clients retry", async () => {
    const importer = database.connect("importerUrl");
    await importer`begin isolation level repeatable read`;
    await importer`select from resident.resident limit 1`;
    await restrictSubject(subject, act(), false);
    await expect(upsert(importer, { village: "W" })).rejects.toMatchObject({ code: "40001" });
    await importer`rollback`;
    await upsert(importer, { village: "W" });
    expect(await look(admin)).toEqual(unseen);
  });

  test("can be shown again while an import adds them", async () => {
    await restrictSubject(subject, act(), false);
    const importer = database.connect("importerUrl");
    const other = database.connect("adminUrl");
    await other`begin`;
    // the import waits for this number when it has added the resident, and not withheld them yet
    await insertSeries(other, 31, 1);
    const imported = storeBatch(importer, residentImport, batchOf([nik, "W"], [nikOf(31), "W"]));
    await waitFor("municipal_importer");
    const lifted = restrictSubject(subject, act(), true);
    await waitFor("municipal_subject");
    await other`rollback`;
    await imported;
    expect(await lifted).toEqual({ state: "restricted", id: 7, done: true });
    expect(await stored()).toMatchObject({ id: 7, village: "W" });
    expect(await recountBlocks(admin)).toEqual([]);
  });
});

describe("a resident who has left the register", () => {
  const leave = () => database.connect("importerUrl")`select resident.mark_left(array[${nik}, ${nikOf(99)}])`;

  test("is hidden, and can still be reported and corrected", async () => {
    await leave();
    expect(await look(admin)).toEqual(unseen);
    expect(await correctSubject(subject, act(), { address: "B" })).toMatchObject({ state: "left", id: 7 });
    const { state, resident } = await reportSubject(subject, act(), { most: 10 });
    expect([state, resident?.address]).toEqual(["left", "B"]);
    expect(await recountBlocks(admin)).toEqual([]);
  });

  test("comes back with the same id and a correction, when an import has them with the values from before it", async () => {
    await correctSubject(subject, act(), { village: "X" });
    await leave();
    await upsert(database.connect("importerUrl"), { address: "C" });
    expect(await stored()).toEqual({ id: 7, name: "SITI 7", address: "C", village: "X" });
    expect(await look(admin)).toEqual(seen);
    expect(await recountBlocks(admin)).toEqual([]);
  });

  test("can be restricted, and then stays hidden when an import has them", async () => {
    await leave();
    expect(await restrictSubject(subject, act(), true)).toMatchObject({ state: "left", done: false });
    expect(await restrictSubject(subject, act(), false)).toEqual({ state: "left", id: 7, done: true });
    await upsert(database.connect("importerUrl"), { village: "W" });
    expect(await look(admin)).toEqual(unseen);
  });

  test("can be erased", async () => {
    await leave();
    expect(await eraseSubject(subject, act(), false)).toEqual({ state: "left", id: 7, done: true });
    expect(await stored("withheld_resident")).toBeUndefined();
  });
});

describe("an erased resident", () => {
  test("is gone with its corrections, and leaves the id and an HMAC of the number", async () => {
    await correctSubject(subject, act(), { name: "SITA" });
    expect(await eraseSubject(subject, act(), false)).toEqual({ state: "stored", id: 7, done: true });
    expect(await look(admin)).toEqual(unseen);
    const [left] = await admin`
      select (select count(*)::int from resident.correction) as corrections,
        (select to_jsonb(e) - 'erased_at' from resident.erased_resident e) as tombstone`;
    expect(left).toEqual({
      corrections: 0,
      tombstone: {
        id: 7,
        nik_digest: `\\x${digestOf(nik).toString("hex")}`,
        pepper_version: 1,
        erased_by: "Rina",
        reason: "the citizen objects",
        lifted_at: null,
      },
    });
    expect(await recountBlocks(admin)).toEqual([]);
  });

  test("can be erased while it is restricted, but not during an import", async () => {
    await restrictSubject(subject, act(), false);
    const importer = database.connect("importerUrl");
    await importer`select from resident.begin_import()`;
    await expect(eraseSubject(subject, act(), false)).rejects.toMatchObject({ code: importRunning });
    await importer.end();
    expect(await eraseSubject(subject, act(), false)).toEqual({ state: "restricted", id: 7, done: true });
    expect(await stored("withheld_resident")).toBeUndefined();
  });

  test("leaves an audit that verifies, and that still knows who read the resident", async () => {
    const maintenance = database.connect("maintenanceUrl");
    await look(admin);
    await sealReads(maintenance, 1);
    await eraseSubject(subject, act(), false);
    await sealReads(maintenance, 1);
    const seals = await maintenance`select problem from audit.verify_seals(0, 10)`;
    expect(seals.map(({ problem }) => problem)).toEqual([null, null]);
    const { state, resident, reads, acts: done } = await reportSubject(subject, act(), { most: 10 });
    expect([state, resident, reads.map(({ route }) => route), done.map((one) => one.act)]).toEqual([
      "erased",
      null,
      ["verify", "search", "list"],
      ["erase"],
    ]);
  });
});

test("with a pepper of another version, nobody is erased, and nobody who was erased is called unknown", async () => {
  await eraseSubject(subject, act(), false);
  const rotated = { pepperVersion: 2, nikDigest: Buffer.alloc(32, 2) };
  for (const wrong of [
    () => reportSubject(subject, act(rotated), { most: 1 }),
    () => eraseSubject(subject, act(rotated), true),
    () => eraseSubject(subject, act({ ...rotated, nik: nikOf(8) }), false),
  ])
    await expect(wrong()).rejects.toMatchObject({ code: otherPepper });
  expect(await restrictSubject(subject, act({ ...rotated, nik: nikOf(8) }), false)).toMatchObject({
    done: true,
  });
});

describe("a correction", () => {
  test("changes the values that differ, and says what they were", async () => {
    expect(await correctSubject(subject, act(), { name: "SITA", village: "V" })).toEqual({
      state: "stored",
      id: 7,
      changes: [{ column: "name", before: "SITI 7", after: "SITA" }],
    });
    expect(await stored()).toMatchObject({ id: 7, name: "SITA" });
    expect(await acts()).toEqual(["subject-correct 1 {7} the citizen objects K-1 Rina"]);
  });

  test("holds against an import of the value that it replaced, and ends with any other value", async () => {
    const importer = database.connect("importerUrl");
    await correctSubject(subject, act(), { name: "SITA" });
    await correctSubject(subject, act(), { name: "SITAH" });
    await correctSubject(subject, act(), { address: "B" });
    await upsert(importer, { village: "W" });
    expect(await stored()).toMatchObject({ name: "SITAH", address: "B", village: "W" });
    await upsert(importer, { name: "SITI AMINAH" });
    expect(await stored()).toMatchObject({ name: "SITI AMINAH", address: "B" });
    await upsert(importer, {});
    expect(await stored()).toMatchObject({ name: "SITI 7", address: "B" });
  });

  test("holds for a restricted resident", async () => {
    const importer = database.connect("importerUrl");
    await restrictSubject(subject, act(), false);
    await correctSubject(subject, act(), { name: "SITA" });
    await upsert(importer, { village: "W" });
    expect(await stored("withheld_resident")).toMatchObject({ name: "SITA", village: "W" });
  });

  test.each(["resident", "withheld_resident"])(
    "holds against a blank cell of an import, which says nothing: %s",
    async (table) => {
      const importer = database.connect("importerUrl");
      if (table === "withheld_resident") await restrictSubject(subject, act(), false);
      await correctSubject(subject, act(), { village: "W" });
      for (const village of [null, "V"]) {
        await storeBatch(importer, residentImport, batchOf([nik, village]));
        expect(await stored(table)).toMatchObject({ village: "W" });
      }
      await storeBatch(importer, residentImport, batchOf([nik, "X"]));
      expect(await stored(table)).toMatchObject({ village: "X" });
    },
  );

  test("ends when the register has the corrected value, so that a later change back counts", async () => {
    const importer = database.connect("importerUrl");
    const importVillage = (village: string) => storeBatch(importer, residentImport, batchOf([nik, village]));
    await correctSubject(subject, act(), { village: "W" });
    await importVillage("V");
    expect(await stored()).toMatchObject({ village: "W" });
    await importVillage("W");
    expect(await importVillage("W")).toMatchObject({ updated: 0, unchanged: 1 });
    await importVillage("V");
    expect(await stored()).toMatchObject({ village: "V" });
  });

  test("of a restricted resident keeps what a running import brings", async () => {
    await restrictSubject(subject, act(), false);
    const importer = database.connect("importerUrl");
    await importer`begin`;
    await upsert(importer, { village: "W" });
    const corrected = correctSubject(subject, act(), { name: "SITA" });
    await waitFor("municipal_subject");
    await importer`commit`;
    expect((await corrected).changes).toHaveLength(1);
    expect(await stored("withheld_resident")).toMatchObject({ name: "SITA", village: "W" });
  });

  test("of nobody is audited, and changes nothing", async () => {
    const nobody = act({ nik: nikOf(99) });
    expect(await correctSubject(subject, nobody, { name: "SITA" })).toEqual({
      state: "unknown",
      id: null,
      changes: [],
    });
    expect(await acts()).toEqual(["subject-correct 0 {0} the citizen objects K-1 Rina"]);
  });
});

test("the audit takes no act without a reason and an operator, or with the number of a person in them", async () => {
  for (const wrong of [
    { reason: "" },
    { operator: "" },
    { reason: "because of 997101010101000" },
    { reason: "x".repeat(101) },
  ])
    await expect(restrictSubject(subject, act(wrong), false)).rejects.toMatchObject({ code: "23514" });
  expect(await look(admin)).toEqual(seen);
});
