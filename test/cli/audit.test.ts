import type postgres from "postgres";
import { beforeEach, expect, test } from "vitest";
import { sealReads } from "#lib/maintenance/audit.ts";
import { callCommand } from "../steps/command.ts";
import { createDatabase, type TemporaryDatabase } from "../steps/temporary-database.ts";

let database: TemporaryDatabase;
let sql: postgres.Sql;
let maintenance: postgres.Sql;

beforeEach(async () => {
  database = await createDatabase();
  sql = database.connect("adminUrl");
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

const verify = () =>
  callCommand(
    () => import("../../infra/cli/audit.ts"),
    { DATABASE_URL: database.urlFor("maintenanceUrl") },
    "verify",
  );
/** Said with every problem. */
const whatToDo = "The audit was changed outside the product. Do not delete anything";

test("accepts sealed rows, whatever the settings of the database session", async () => {
  await sealThree();
  await read(3);
  await sql.unsafe(
    `alter role municipal_maintenance in database ${database.name} set timezone = 'Asia/Jakarta'`,
  );
  const { status, out } = await verify();
  expect([status, out]).toEqual([
    0,
    "All 3 seals are valid.\nThis check cannot detect recreated seals. On a stage, run: npm run city -- audit verify --stage STAGE\n",
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
      "insert into audit.resident_read (id, partner_id, key_id, request_id, route, row_count, shown) " +
      "values (12, 'p', 'k', 'r', 'list', 0, '')",
    "seal 2: its rows were changed",
  ],
  ["a removed seal", "delete from audit.seal where id = 2", "seal 3: the seal before it is missing"],
  [
    "a seal that was changed with its rows",
    "delete from audit.resident_read where id = 12; update audit.seal set (row_count, rows_digest) = " +
      "(select row_count, rows_digest from audit.digest_rows(11, 15, 1::smallint)) where id = 2",
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
