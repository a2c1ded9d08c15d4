import { expect, test, vi } from "vitest";
import { createDatabase } from "../../steps/temporary-database.ts";
import { listObstacles } from "./replicate.ts";
import { runUpgrade, type UpgradeOptions } from "./upgrade.ts";

/** It starts two servers, and waits for each change to arrive; where a part is left out, for messages that may never arrive. */
vi.setConfig({ testTimeout: 300_000 });

// the short form of `npm run lab -- drill upgrade`, between two servers of one version
const upgrade = (options: Partial<UpgradeOptions> = {}) =>
  runUpgrade({ residents: 500, phones: 4, ...options });

const wrongsOf = ({ steps }: Awaited<ReturnType<typeof upgrade>>) =>
  steps.flatMap(({ name, wrongs }) => wrongs.map((wrong) => `${name}: ${wrong}`));

test("a city moves to another server while it is used, and shows every message once", async () => {
  const report = await upgrade();
  expect(wrongsOf(report)).toEqual([]);
  expect(report.steps.at(-1)?.name).toBe("go on, verify the audit");
});

test("sequences that were not copied fail the drill, because they would give numbers again", async () =>
  expect(wrongsOf(await upgrade({ without: "sequences" })).join("\n")).toMatch(
    /copy the sequences: sequence messaging\.message_seq_seq: at .*, not \d+/,
  ));

test("an old server that still takes writes fails the drill", async () =>
  expect(wrongsOf(await upgrade({ without: "fence" })).join("\n")).toContain(
    "stop the writers: a function can still write to the old server",
  ));

test("a table without a key, an unlogged one and a large object are named, and the product has none", async () => {
  const sql = (await createDatabase()).connect("adminUrl");
  expect(await listObstacles(sql)).toEqual([]);
  await sql.unsafe("create table keyless (x int); create unlogged table fast (x int primary key)").simple();
  await sql.unsafe("create materialized view old as select 1 as x; select lo_create(7)").simple();
  expect(await listObstacles(sql)).toEqual([
    "fast is unlogged",
    "keyless has no key that identifies its rows",
    "large object 7",
    "old is a materialized view",
  ]);
});
