import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { beforeEach, expect, inject, onTestFinished, test } from "vitest";
import { Batch } from "#lib/import/batch.ts";
import { storeBatch } from "#lib/import/load.ts";
import { residentImport } from "#lib/resident/import.ts";
import { recountBlocks } from "#lib/resident/recount.ts";
import { inventResident } from "../../infra/local/seed/resident-rows.ts";
import { startCommand } from "../steps/command.ts";
import { type Point, Points, watchDatabase } from "../steps/points.ts";
import { residentCsv } from "../steps/residents/resident-csv.ts";
import { createDatabase, type TemporaryDatabase } from "../steps/temporary-database.ts";
import { startWire, type Wire } from "../steps/wire.ts";

/** Three blocks of a COPY. */
const rowsPerBatch = 1_200;
let made = 0;
/** Others each time. */
const inventRows = () => {
  made += rowsPerBatch;
  return Array.from({ length: rowsPerBatch }, (_, n) => inventResident(made + n));
};
const points = new Points();
let database: TemporaryDatabase;
let wire: Wire;
beforeEach(async () => {
  database = await createDatabase();
  wire = await startWire(Number(new URL(inject("city").importerUrl).port), watchDatabase(points));
  onTestFinished(() => wire.stop());
});

/** Cuts the connection at a point, and drops what crosses there. New connections work. */
const cutAt = (point: Point) =>
  points.arm({
    ...point,
    kill: async () => {
      wire.fail("cut");
      wire.well();
      points.disarm();
    },
  });

const importerUrl = () => {
  const url = new URL(database.urlFor("importerUrl"));
  url.port = String(wire.port);
  return url.href;
};

const inspect = async () => {
  const sql = database.connect("adminUrl");
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from resident.resident`;
  return { stored: row?.count ?? 0, miscounts: await recountBlocks(sql) };
};

const importer = () => postgres(importerUrl(), { max: 1, fetch_types: false, onnotice: () => {} });

/** The points of a batch that is not cut. */
const listPoints = async (): Promise<Point[]> => {
  points.arm();
  const sql = importer();
  await storeBatch(sql, residentImport, Batch.of(inventRows())).finally(() => sql.end());
  return points.list();
};

test("a batch whose connection is lost at any write fails, and is completed by the same batch again", async () => {
  const all = await listPoints();
  expect(all.map(({ step }) => step)).toEqual(
    expect.arrayContaining([
      "before rows of a COPY",
      "before the end of a COPY",
      "before commit",
      "after commit",
    ]),
  );
  for (const point of all) {
    const sql = importer();
    onTestFinished(() => sql.end({ timeout: 1 }));
    const rows = inventRows();
    const { stored: before } = await inspect();
    cutAt(point);
    const outcome = await storeBatch(sql, residentImport, Batch.of(rows)).then(
      () => "stored",
      () => "failed",
    );
    expect([point, points.hasKilled(), outcome]).toEqual([point, true, "failed"]);
    const expected = point.step === "after commit" ? rowsPerBatch : 0;
    await expect.poll(async () => (await inspect()).stored - before).toBe(expected);
    const { inserted, unchanged } = await storeBatch(sql, residentImport, Batch.of(rows));
    expect([point, inserted, unchanged]).toEqual([point, rowsPerBatch - expected, expected]);
    expect(await inspect()).toEqual({ stored: before + rowsPerBatch, miscounts: [] });
  }
});

/** Loses the connection, and waits until the driver has noticed. */
const lose = (sql: postgres.Sql) =>
  new Promise<void>((resolve) => {
    const { onclose } = sql.options;
    sql.options.onclose = (connection) => {
      onclose(connection);
      resolve();
    };
    wire.fail("cut");
    wire.well();
  });

test("a batch whose connection is lost after its rows were copied fails, although the driver connects again for the commit", async () => {
  points.arm();
  const sql = importer();
  onTestFinished(() => sql.end({ timeout: 1 }));
  const late = new Proxy(sql, {
    apply: async (target, self, query: [TemplateStringsArray]) => {
      if (query[0][0] === "commit") await lose(sql);
      return Reflect.apply(target, self, query);
    },
  });
  await expect(storeBatch(late, residentImport, Batch.of(inventRows()))).rejects.toThrow(
    "connection was lost",
  );
  expect(await inspect()).toEqual({ stored: 0, miscounts: [] });
});

test.each(["before", "after"])(
  "an import whose connection is lost %s its commit stops, and the next one stores each row once",
  async (moment) => {
    const folder = mkdtempSync(join(tmpdir(), "cut-import-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "residents.csv");
    writeFileSync(file, residentCsv(inventRows()));
    const run = () => startCommand("import", { DATABASE_URL: importerUrl() }, "residents", file).ended;
    cutAt({ step: `${moment} commit`, turn: 1 });
    const { status, errors } = await run();
    expect([points.hasKilled(), status, errors]).toEqual([
      true,
      1,
      expect.stringContaining("Import stopped"),
    ]);
    expect((await run()).status).toBe(0);
    expect(await inspect()).toEqual({ stored: rowsPerBatch, miscounts: [] });
  },
);
