import type postgres from "postgres";
import { beforeEach, expect, test } from "vitest";
import { auditSteps, sealReads } from "#lib/maintenance/audit.ts";
import { callCommand } from "../steps/command.ts";
import { insertSeries } from "../steps/residents/resident-series.ts";
import { createDatabase, type TemporaryDatabase } from "../steps/temporary-database.ts";

const width = 100_000_000;

let database: TemporaryDatabase;
let sql: postgres.Sql;
let maintenance: postgres.Sql;

beforeEach(async () => {
  database = await createDatabase();
  sql = database.connect("adminUrl");
  maintenance = database.connect("maintenanceUrl");
});

const read = async (reader: postgres.Sql, count: number) => {
  for (let i = 0; i < count; i++) await reader`select resident.list(1, 10, 'p', 'k', 'r')`;
};

/** The next read gets this id. */
const moveOn = (id: number) => sql`select setval('audit.resident_read_id', ${id}, false)`;

const step = async (name: string) =>
  (await auditSteps.find((one) => one.name === name)?.work(maintenance))?.rows;

/** Rows of each partition. */
const partitions = async () => {
  const names = await sql<{ name: string }[]>`
    select inhrelid::regclass::text as name from pg_inherits where inhparent = 'audit.resident_read'::regclass
    order by inhrelid`;
  const counts: [string, number][] = [];
  for (const { name } of names)
    counts.push([name.replace("audit.resident_read_", ""), (await sql`select from ${sql(name)}`).length]);
  return counts;
};

const verify = () =>
  callCommand(
    () => import("../../infra/cli/audit.ts"),
    { DATABASE_URL: database.urlFor("maintenanceUrl") },
    "verify",
  );

/** Three reads, the last one in the next partition, in one seal; then two more in another one. */
const sealAcross = async () => {
  await moveOn(width - 2);
  await read(sql, 3);
  await sealReads(maintenance, 1);
  await read(sql, 2);
  await sealReads(maintenance, 1);
};

/** As if the first seals had been made so long ago: the time is part of each digest. */
const age = (interval: string, seals: number) =>
  sql.unsafe(`
    do $$
    declare
      entry audit.seal;
      previous bytea;
    begin
      update audit.seal set sealed_at = now() - interval '${interval}' where id <= ${seals};
      for entry in select * from audit.seal order by id loop
        entry.digest := audit.digest_seal(previous, entry);
        update audit.seal set digest = entry.digest where id = entry.id;
        previous := entry.digest;
      end loop;
    end $$`);

test("the next partition is created ahead, and readers need no privilege on it", async () => {
  const reader = database.connect("residentUrl");
  await moveOn(width - 1);
  await read(reader, 2);
  expect(await step("audit-partitions")).toBe(1);
  expect(await step("audit-partitions")).toBe(0);
  expect(await partitions()).toEqual([
    ["0", 1],
    ["1", 1],
    ["2", 0],
  ]);
  await moveOn(2 * width - 1);
  await read(reader, 2);
  expect((await partitions()).at(-1)).toEqual(["2", 1]);
});

test("a partition is created while reads are running and starting", async () => {
  const slow = database.connect("adminUrl");
  await slow`begin`;
  await read(slow, 1);
  await moveOn(width);
  await maintenance`begin`;
  expect(await step("audit-partitions")).toBe(1);
  await sql`set lock_timeout = '100ms'`;
  await read(sql, 1);
  await maintenance`commit`;
});

test("ids move to the next partition when the first row is a month old, so that rows of a small city expire", async () => {
  await read(sql, 2);
  expect(await step("audit-partitions")).toBe(0);
  await read(sql, 1);
  await sql`update audit.resident_read set read_at = now() - interval '32 days' where id = 1`;
  expect(await step("audit-partitions")).toBe(0);
  await read(sql, 1);
  const ids = await sql<{ id: number }[]>`select id::int from audit.resident_read order by id`;
  expect(ids.map(({ id }) => id)).toEqual([1, 2, 3, width]);
  expect(await step("audit-partitions")).toBe(1);
});

test("a partition is dropped when all its seals are older than five years, and the chain stays valid", async () => {
  await sealAcross();
  expect(await step("audit-expiry")).toBe(0);
  await age("59 months", 2);
  expect(await step("audit-expiry")).toBe(0);
  await age("61 months", 1);
  expect(await step("audit-expiry")).toBe(3);
  expect(await step("audit-expiry")).toBe(0);
  // the row of the dropped seal is in the next partition, and is deleted with it
  expect(await partitions()).toEqual([["1", 3]]);
  expect(await verify()).toMatchObject({ status: 0, out: expect.stringMatching(/^All 2 seals are valid/) });
});

test("a partition that is dropped takes along who was shown", async () => {
  await insertSeries(sql, 1, 3);
  await sql`select resident.rebuild_blocks()`;
  await sealAcross();
  const showing = async () => (await sql`select from audit.reads_of(2, 10)`).length;
  expect(await showing()).toBe(5);
  await age("61 months", 1);
  expect(await step("audit-expiry")).toBe(3);
  expect(await showing()).toBe(3);
});

test("a partition is not dropped while it is in use, or has unsealed rows", async () => {
  await read(sql, 2);
  await sealReads(maintenance, 1);
  await age("61 months", 1);
  expect(await step("audit-expiry")).toBe(0);
  await read(sql, 1);
  await moveOn(width);
  expect(await step("audit-expiry")).toBe(0);
  await sql`delete from audit.resident_read where id = 3`;
  expect(await step("audit-expiry")).toBe(2);
});

test("verify finds a partition that was dropped too early", async () => {
  await sealAcross();
  await sql.unsafe("drop table audit.resident_read_0");
  expect(await verify()).toMatchObject({
    status: 1,
    errors: expect.stringMatching(/^seal 1: it sealed 3 rows, there are 1\n/),
  });
});

test("dropping a partition times out on a long reader, and succeeds in the next run", async () => {
  await sealAcross();
  await age("61 months", 1);
  const slow = database.connect("adminUrl");
  await slow`begin`;
  await read(slow, 1);
  expect(await step("audit-expiry")).toBe(0);
  await slow`commit`;
  expect(await step("audit-expiry")).toBe(3);
});

test("partitions of any size are vacuumed and frozen after a million new rows", async () => {
  const rows = await sql<{ options: string[] }[]>`
    select reloptions::text as options from pg_class where relname in ('resident_read_0', 'resident_read_1')
      and reloptions @> array['autovacuum_vacuum_insert_scale_factor=0',
        'autovacuum_vacuum_insert_threshold=1000000', 'autovacuum_freeze_min_age=0']`;
  expect(rows).toHaveLength(2);
});
