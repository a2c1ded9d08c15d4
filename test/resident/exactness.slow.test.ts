import { expect, test } from "vitest";
import { recountBlocks, recountSubstrings } from "#lib/resident/recount.ts";
import { countSubstrings, refreshFrequentSubstrings } from "#lib/resident/upkeep.ts";
import { Random } from "../steps/random.ts";
import { createDatabase } from "../steps/temporary-database.ts";
import { checkPages } from "./resident-check.ts";
import { Writer } from "./resident-traffic.ts";

/** Small blocks, so that a few thousand rows have many boundaries that move. */
const target = 32;

test("list and search equal a direct count in the same snapshot during eight writers and maintenance", async () => {
  const database = await createDatabase();
  const random = new Random(7);
  const writers = Array.from({ length: 8 }, (_, i) => {
    const isolation = i % 2 === 0 ? "read committed" : "repeatable read";
    return new Writer(database.connect("adminUrl"), new Random(i), i, isolation);
  });
  let compared = 0;
  let progress = Promise.withResolvers<void>();
  const upkeep = { applied: 0, split: 0, counted: 0, chosen: 0, rebuilt: 0 };
  /** Whether everything that may disturb a reader has happened, and readers have compared often enough. */
  const enough = () =>
    compared >= 700 &&
    Object.values(upkeep).every((times) => times > 0) &&
    writers.every(({ traffic }) => traffic.committed > 10) &&
    writers.some(({ traffic }) => traffic.rolledBack > 0);

  const write = async (writer: Writer) => {
    while (!enough()) {
      // so that writers do not outrun the checks
      if (writer.traffic.committed > compared / 2 + 20) await progress.promise;
      else await (random.chance(10) ? writer.copy() : writer.write());
    }
  };
  const keepUp = async () => {
    const sql = database.connect("adminUrl");
    while (!enough()) {
      const [applied] = await sql<{ rows: number }[]>`select resident.apply_changes(5000) as rows`;
      const [split] = await sql<{ blocks: number }[]>`select resident.split_block(${target}, 4) as blocks`;
      upkeep.applied += applied?.rows ?? 0;
      upkeep.split += split?.blocks ?? 0;
      upkeep.chosen += (await refreshFrequentSubstrings(sql)) === undefined ? 0 : 1;
      upkeep.counted += await countSubstrings(sql);
      if (random.chance(5)) {
        await sql`select resident.rebuild_blocks(${target})`;
        upkeep.rebuilt += 1;
      }
      expect([...(await recountBlocks(sql)), ...(await recountSubstrings(sql, 2))]).toEqual([]);
    }
  };
  const check = async (seed: number) => {
    const sql = database.connect("adminUrl");
    const own = new Random(seed);
    while (!enough()) {
      compared += await checkPages(sql, own, 20);
      progress.resolve();
      progress = Promise.withResolvers();
    }
  };
  await Promise.all([...writers.map(write), keepUp(), check(100), check(101)]);

  // each comparison has failed by itself where it had to
  expect(enough()).toBe(true);
}, 240_000);
