import type postgres from "postgres";
import { beforeEach, expect, test } from "vitest";
import { recountBlocks } from "#lib/resident/recount.ts";
import { Random } from "../steps/random.ts";
import { insertSeries } from "../steps/residents/resident-series.ts";
import { createDatabase } from "../steps/temporary-database.ts";
import { checkPages } from "./resident-check.ts";

let sql: postgres.Sql;

/** Rows enough that a statement finds their blocks all at once. */
const many = 400;

const expectRight = async () => {
  expect(await recountBlocks(sql)).toEqual([]);
  await checkPages(sql, new Random(7), 20);
};

/** Blocks of some ten rows, many of which have one and the same time. */
beforeEach(async () => {
  sql = (await createDatabase()).connect("adminUrl");
  // the counts are the maintenance's to see
  await sql.unsafe("grant municipal_owner to current_user");
  await sql.unsafe("set role municipal_owner");
  await insertSeries(sql, 1, 300, "timestamp '2025-01-01' + (i / 2) * interval '1 second'");
  await insertSeries(sql, 301, 100, "timestamp '2025-01-01 00:01:00'");
  await sql`select resident.rebuild_blocks(10)`;
});

test("rows inserted in bulk are counted in their blocks, at and between the boundaries", async () => {
  await insertSeries(sql, 1_001, many, "timestamp '2025-01-01' + (i % 200) * interval '1 second'");
  await insertSeries(sql, 2_001, many, "timestamp '2024-12-31' + i * interval '1 hour'");
  await expectRight();
});

test("rows whose times change in bulk move to other blocks", async () => {
  await sql`update resident.resident set created_at = timestamp '2025-01-01 00:01:00' + (id % 3) * interval '1 minute'
    where id > 50`;
  await expectRight();
});

test("rows whose names change in bulk invalidate only the substring counts of their blocks", async () => {
  await sql`update resident.block set counted_version = version, counted_generation = 0`;
  await sql`update resident.resident set name = name || ' B' where created_at = '2025-01-01 00:01:00'`;
  const [row] = await sql`select count(*) filter (where is_changed)::int as changed, count(*)::int as blocks
    from resident.counted_blocks()`;
  expect(row?.changed).toBeGreaterThanOrEqual(10);
  expect(row?.changed).toBeLessThanOrEqual(12);
  expect(row?.blocks).toBe(40);
});

test("rows deleted in bulk leave their blocks", async () => {
  await sql`delete from resident.resident where id % 4 <> 0`;
  await expectRight();
});

test("a block is split later when there are more residents", async () => {
  const [row] =
    await sql`select resident.block_target(0) as none, resident.block_target(9900000) as ten_million,
    resident.block_target(1000000000) as billion`;
  expect(row).toEqual({ none: 8192, ten_million: 8192, billion: 82_219 });
  // a block of 20,000, among so many that a new one would have 28,482
  await insertSeries(sql, 10_001, 20_000, "timestamp '2026-01-01' + i * interval '1 second'");
  await sql`select resident.apply_changes()`;
  await sql`
    with others as (
      insert into resident.block (low_created_at, low_id, row_count)
      select timestamp '2027-01-01' + i * interval '1 second', 0, 10000 from generate_series(1, 12000) i returning 1)
    select count(*) from others`;
  expect(await sql`select resident.split_block() as added`).toEqual([{ added: 0 }]);
  const newest = await sql`update resident.block set row_count = 40000
    where low_created_at = (select max(low_created_at) from resident.block) returning id`;
  expect(await sql`select block_id as id from resident.list_stale_blocks(1)`).toEqual(newest);
  await sql`delete from resident.block where low_created_at > '2027-01-01'`;
  expect(await sql`select resident.split_block() as added`).toEqual([{ added: 2 }]);
  expect(await recountBlocks(sql)).toEqual([]);
});
