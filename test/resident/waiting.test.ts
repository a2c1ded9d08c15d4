import type postgres from "postgres";
import { beforeEach, expect, test } from "vitest";
import { recountBlocks } from "#lib/resident/recount.ts";
import { insertSeries } from "../steps/residents/resident-series.ts";
import { createDatabase } from "../steps/temporary-database.ts";

let upkeep: postgres.Sql;
let writer: postgres.Sql;

const insert = (sql: postgres.Sql, from: number, rows: number) =>
  insertSeries(sql, from, rows, "timestamp '2025-01-01' + (i % 100) * interval '1 second'");

/** More than a statement notes each by itself. */
const many = 150;

/** Cuts the one block of 100 rows in ten. */
const split = () => upkeep`select resident.split_block(10)`;

beforeEach(async () => {
  const database = await createDatabase();
  [upkeep, writer] = [database.connect("adminUrl"), database.connect("adminUrl")];
  await insert(upkeep, 1, 100);
  await upkeep`select resident.apply_changes()`;
});

test.each([
  ["split", split],
  ["cut anew", () => upkeep`select resident.rebuild_blocks(10)`],
])("blocks are %s without waiting for a writer of few rows, which then commits", async (_, cut) => {
  await writer`begin`;
  await insert(writer, 1_001, 50);
  await cut();
  await writer`commit`;
  expect(await recountBlocks(upkeep)).toEqual([]);
});

test("a writer of few rows in REPEATABLE READ continues after blocks were split", async () => {
  await writer`begin isolation level repeatable read`;
  await writer`select count(*) from resident.resident`;
  await split();
  await insert(writer, 1_001, 50);
  await writer`delete from resident.resident where id % 3 = 0`;
  await writer`commit`;
  expect(await recountBlocks(upkeep)).toEqual([]);
});

test("a writer of many rows in REPEATABLE READ gets a serialization error after blocks were split", async () => {
  await writer`begin isolation level repeatable read`;
  await writer`select count(*) from resident.resident`;
  await split();
  await expect(insert(writer, 1_001, many)).rejects.toMatchObject({ code: "40001" });
  await writer`rollback`;
  expect(await recountBlocks(upkeep)).toEqual([]);
});

test("blocks are not split under a writer of many rows", async () => {
  await writer`begin`;
  await insert(writer, 1_001, many);
  await expect(split()).rejects.toMatchObject({ code: "55P03" });
  await writer`commit`;
  await split();
  expect(await recountBlocks(upkeep)).toEqual([]);
});
