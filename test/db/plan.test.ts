import postgres from "postgres";
import { expect, onTestFinished, test } from "vitest";
import { inventResident } from "../../infra/local/seed/resident-rows.ts";
import { storeSeed } from "../../infra/local/seed/seed.ts";
import { insertSeries } from "../steps/residents/resident-series.ts";
import { createDatabase, type TemporaryDatabase } from "../steps/temporary-database.ts";

test("a search by NIK uses its index on a connection that has searched by name", async () => {
  const database = await createDatabase();
  const { name } = database;
  const admin = database.connect("adminUrl");
  const importer = database.connect("importerUrl");
  const reader = database.connect("residentUrl");
  await storeSeed(importer, 20_000, () => {});
  // a session counts its scans late, at the latest when it ends
  await importer.end();
  const importing = () => admin`select from pg_stat_activity
    where datname = ${name} and usename = 'municipal_importer'`;
  await expect.poll(async () => (await importing()).length).toBe(0);
  await admin.unsafe("analyze resident.resident");

  const nik = inventResident(7).values[0] ?? "";
  const search = (nik: string | null, name: string | null) =>
    reader`select total from resident.search(${nik}, ${name}, 1, 10, 'p', 'k', 'r',
      ${nik && Buffer.alloc(32)}, ${name && Buffer.alloc(32)}, 1)`;
  const sequentialScans = async () => {
    for (const sql of [admin, reader]) await sql`select pg_stat_force_next_flush()`;
    const [row] = await admin<{ scans: number }[]>`
      select seq_scan::int as scans from pg_stat_user_tables where relid = 'resident.resident'::regclass`;
    return row?.scans;
  };
  for (let i = 0; i < 12; i += 1) await search(null, "siti");
  const before = await sequentialScans();
  for (let i = 0; i < 12; i += 1) expect((await search(nik, null))[0]?.total).toBe("1");
  expect(await sequentialScans()).toBe(before);
});

interface PlanNode {
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly Plans?: readonly PlanNode[];
}

const countRows = ({ Plans = [], ...node }: PlanNode): number =>
  Plans.map(countRows).reduce((total, rows) => total + rows, node["Actual Rows"] * node["Actual Loops"]);

/** A session that counts the rows which the nodes of its plans pass on, in functions too. */
const openCounted = async (database: TemporaryDatabase) => {
  let rows = 0;
  const onnotice = ({ message }: postgres.Notice) => {
    const plan = /plan:\n(\{.*)/s.exec(message ?? "")?.[1];
    if (plan) rows += countRows(JSON.parse(plan).Plan);
  };
  const sql = postgres(database.urlFor("superuserUrl"), {
    max: 1,
    fetch_types: false,
    prepare: false,
    onnotice,
  });
  onTestFinished(() => sql.end());
  await sql.unsafe(`load 'auto_explain'`);
  for (const [name, value] of Object.entries({
    ...{ log_min_duration: 0, log_analyze: true, log_timing: false, log_nested_statements: true },
    log_format: "json",
  }))
    await sql.unsafe(`set auto_explain.${name} = ${value}`);
  await sql.unsafe("set client_min_messages = log");
  const count = async (read: (sql: postgres.Sql) => Promise<unknown>): Promise<number> => {
    rows = 0;
    await read(sql);
    return rows;
  };
  return count;
};

test("a plan made while no notes are pending is also good with many", async () => {
  const database = await createDatabase();
  const admin = database.connect("adminUrl");
  await admin.unsafe("grant municipal_owner to current_user");
  await insertSeries(admin, 1, 12_000, "timestamp '2025-01-01' + i * interval '1 second'");
  await admin`select resident.rebuild_blocks(10)`;
  await admin.unsafe("vacuum analyze resident.resident");
  await admin.unsafe("vacuum analyze resident.pending_change");

  const reads = {
    list: (sql: postgres.Sql) => sql`select total from resident.list(1200, 10, 'p', 'k', 'r')`,
    search: (sql: postgres.Sql) =>
      sql`select total from resident.search(null, 'zz', 1, 10, 'p', 'k', 'r', null, ${Buffer.alloc(32)}, 1)`,
  };
  const early = await openCounted(database);
  for (const read of Object.values(reads)) await early(read);
  await admin`
    insert into resident.pending_change (created_at, id, difference)
    select created_at, id, 0 from resident.resident where id % 10 = 0`;
  const late = await openCounted(database);
  for (const [name, read] of Object.entries(reads)) {
    const [kept, fresh] = [await early(read), await late(read)];
    // each of 1,200 blocks and of 1,200 notes is read; by a nested loop each note for each block
    expect([name, fresh > 2_000, kept < 2 * fresh]).toEqual([name, true, true]);
  }
});
