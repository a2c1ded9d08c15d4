import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type postgres from "postgres";
import { beforeEach, expect, test, vi } from "vitest";
import { migrate } from "#lib/db/migrate.ts";
import { sealReads } from "#lib/maintenance/audit.ts";
import { callCommand } from "../steps/command.ts";
import { createDatabase, type TemporaryDatabase } from "../steps/temporary-database.ts";
import { startJobsStack } from "./jobs-stack.ts";

let database: TemporaryDatabase;
let sql: postgres.Sql;
let maintenance: postgres.Sql;

beforeEach(async () => {
  database = await createDatabase();
  sql = database.connect("adminUrl");
  await migrate(sql);
  maintenance = database.connect("maintenanceUrl");
});

const read = (count: number) =>
  sql`select (resident.list(1, 10, 'p', 'k', 'request ' || n)).total from generate_series(1, ${count}) n`;

/** Three seals of ten, five and two rows. */
const sealThree = async () => {
  for (const count of [10, 5, 2]) {
    await read(count);
    await sealReads(maintenance, 1);
  }
};

const verifyWith = (settings: Record<string, string>, ...args: string[]) =>
  callCommand(
    () => import("../../infra/commands/audit.ts"),
    { DATABASE_URL: database.urlFor("maintenanceUrl"), ...settings },
    ...["verify", ...args],
  );
/** Said with every problem. */
const whatToDo = "The audit was changed outside the product. Do not delete anything";

const verify = (...args: string[]) => verifyWith({}, ...args);

/** Seals while the log is written to a file. @returns its name. */
const sealIntoLog = async (): Promise<string> => {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  await sealThree();
  const lines = write.mock.calls.map(([line]) => String(line));
  write.mockRestore();
  const file = join(tmpdir(), `${database.name}.log`);
  // as CloudWatch exports them, with their time in front
  writeFileSync(
    file,
    ["START RequestId: 1\n", ...lines].map((line) => `2026-01-05T02:00:00Z ${line}`).join(""),
  );
  return file;
};

test("accepts sealed rows, whatever the settings of the database session", async () => {
  await sealThree();
  await read(3);
  await sql.unsafe(
    `alter role municipal_maintenance in database ${database.name} set timezone = 'Asia/Jakarta'`,
  );
  const { status, out } = await verify();
  expect([status, out]).toEqual([
    0,
    "All 3 seals are valid.\nThis check cannot detect recreated seals. On a stage, run: npm run audit -- verify --stage STAGE\n",
  ]);
});

test.each([
  ["a removed row", "delete from audit.resident_read where id = 12", "seal 2: it sealed 5 rows, there are 4"],
  [
    "a changed row",
    "update audit.resident_read set partner_id = 'q' where id = 3",
    "seal 1: its rows were changed",
  ],
  [
    "a row that was slipped in",
    "delete from audit.resident_read where id = 12; " +
      "insert into audit.resident_read (id, partner_id, key_id, request_id, route, row_count) " +
      "values (12, 'p', 'k', 'r', 'list', 0)",
    "seal 2: its rows were changed",
  ],
  ["a removed seal", "delete from audit.seal where id = 2", "seal 3: the seal before it is missing"],
  [
    "a seal that was changed with its rows",
    "delete from audit.resident_read where id = 12; update audit.seal set (row_count, rows_digest) = " +
      "(select row_count, rows_digest from audit.digest_rows(11, 15)) where id = 2",
    "seal 2: the seal was changed",
  ],
  [
    "rows that were removed as if they were old",
    "delete from audit.resident_read where id <= 10; update audit.seal set expired_at = now() where id = 1",
    "seal 1: its rows were removed before their time",
  ],
  [
    "rows that were removed as if they had been old by then",
    "delete from audit.resident_read where id <= 10; " +
      "update audit.seal set expired_at = now() + interval '6 years' where id = 1",
    "seal 1: its rows were removed before their time",
  ],
  [
    "a seal that was made older with its rows",
    "delete from audit.resident_read where id <= 10; " +
      "update audit.seal set sealed_at = now() - interval '6 years', expired_at = now() where id = 1",
    "seal 1: the seal was changed",
  ],
])("finds %s", async (_, tampering, problem) => {
  await sealThree();
  await sql.unsafe(tampering).simple();
  expect(await verify()).toMatchObject({
    status: 1,
    errors: expect.stringContaining(`${problem}\n${whatToDo}`),
  });
});

test("finds seals that were recreated, and removed ones at the end, by the log", async () => {
  const log = await sealIntoLog();
  expect(await verify("--log", log)).toMatchObject({
    status: 0,
    out: "All 3 seals are valid, 3 of them by the log. Nothing to do.\n",
    errors: "",
  });
  await sql
    .unsafe("delete from audit.seal where id = 3; delete from audit.resident_read where id > 15")
    .simple();
  expect((await verify()).status).toBe(0);
  expect(await verify("--log", log)).toMatchObject({
    status: 1,
    errors: expect.stringContaining("seal 3: it is missing\n"),
  });
  await sql.unsafe("delete from audit.seal; delete from audit.resident_read where id = 12").simple();
  await sealReads(maintenance, 1);
  expect((await verify()).status).toBe(0);
  expect(await verify("--log", log)).toMatchObject({
    status: 1,
    errors: expect.stringMatching(
      /^seal 1: its digest differs from the log\nseal 2: it is missing\nseal 3: it is missing\n/,
    ),
  });
});

test("finds a seal that was recreated and logged again by its first digest in the log", async () => {
  const log = await sealIntoLog();
  const first = JSON.stringify({ message: "audit sealed", seal: "2", digest: "00" });
  writeFileSync(log, `${first}\n${readFileSync(log, "utf8")}`);
  expect(await verify("--log", log)).toMatchObject({
    status: 1,
    errors: expect.stringMatching(/^seal 2: its digest differs from the log\n/),
  });
});

test("after a restore, leaves out the seals that were lost with the database, and only these", async () => {
  const log = await sealIntoLog();
  const restored = () => verify("--log", log, "--restored", "1");
  await sql
    .unsafe("delete from audit.seal where id > 1; delete from audit.resident_read where id > 10")
    .simple();
  expect((await verify("--log", log)).errors).toMatch(/^seal 2: it is missing\nseal 3: it is missing\n/);
  expect((await restored()).status).toBe(0);
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  await sealThree();
  writeFileSync(log, write.mock.calls.map(([line]) => String(line)).join(""), { flag: "a" });
  write.mockRestore();
  expect((await verify("--log", log)).errors).toMatch(/^seal 2: its digest differs from the log\n/);
  expect((await restored()).out).toBe("All 4 seals are valid, 4 of them by the log. Nothing to do.\n");
  await sql`delete from audit.seal where id = 4`;
  expect((await restored()).errors).toMatch(/^seal 4: it is missing\n/);
});

test("reads the log of a stage from CloudWatch, page by page", async () => {
  const lines = readFileSync(await sealIntoLog(), "utf8").split("\n");
  const { url } = await startJobsStack([], lines);
  const settings = {
    AWS_REGION: "local",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
    AWS_ENDPOINT_URL: url,
  };
  expect(await verifyWith(settings, "--stage", "test")).toMatchObject({
    status: 0,
    out: "All 3 seals are valid, 3 of them by the log. Nothing to do.\n",
  });
  await sql`delete from audit.seal where id = 3`;
  expect(await verifyWith(settings, "--stage", "test")).toMatchObject({
    status: 1,
    errors: expect.stringMatching(/^seal 3: it is missing\n/),
  });
  expect(await verifyWith(settings, "--stage", "other")).toMatchObject({
    status: 1,
    errors: expect.stringContaining("The log of stage other cannot be read"),
  });
});

test("says that a log without seals proves nothing", async () => {
  await sealThree();
  expect(await verify("--log", "/dev/null")).toMatchObject({
    status: 1,
    errors: 'The log has no line "audit sealed".\n',
  });
});

test("does not seal past a read whose transaction has not ended", async () => {
  await read(2);
  const slow = database.connect("adminUrl");
  await slow.begin(async (reading) => {
    await reading`select resident.list(1, 10, 'p', 'k', 'slow')`;
    await read(2);
    expect(await sealReads(maintenance, 1)).toEqual({ rows: 0, more: false });
  });
  expect(await sealReads(maintenance, 1)).toEqual({ rows: 5, more: false });
  expect((await verify()).status).toBe(0);
});

test("few rows are sealed only after a while", async () => {
  await read(3);
  expect(await sealReads(maintenance)).toEqual({ rows: 0, more: false });
  await sql`update audit.resident_read set read_at = now() - interval '11 minutes' where id = 1`;
  expect(await sealReads(maintenance)).toEqual({ rows: 3, more: false });
});
