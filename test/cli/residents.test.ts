import type postgres from "postgres";
import { beforeEach, expect, test } from "vitest";
import { Batch } from "#lib/import/batch.ts";
import { storeBatch } from "#lib/import/load.ts";
import { residentSteps } from "#lib/maintenance/residents.ts";
import { residentImport } from "#lib/resident/import.ts";
import { inventResident } from "../../infra/local/seed/resident-rows.ts";
import { callCommand } from "../steps/command.ts";
import { createDatabase, type TemporaryDatabase } from "../steps/temporary-database.ts";

let database: TemporaryDatabase;
let sql: postgres.Sql;

beforeEach(async () => {
  database = await createDatabase();
  sql = database.connect("adminUrl");
  const rows = Array.from({ length: 600 }, (_, i) => inventResident(i + 1));
  await storeBatch(database.connect("importerUrl"), residentImport, Batch.of(rows));
});

const run = (...args: string[]) =>
  callCommand(
    () => import("../../infra/cli/residents.ts"),
    { DATABASE_URL: database.urlFor("maintenanceUrl") },
    ...args,
  );

/** Deletes without that it is counted, for which its trigger must be switched off. */
const bypass = (statement: string) =>
  sql
    .unsafe(
      `set role municipal_owner; alter table resident.resident disable trigger record_delete; ${statement};
       alter table resident.resident enable always trigger record_delete; reset role`,
    )
    .simple();

const work = (name: string) =>
  residentSteps.find((step) => step.name === name)?.work(database.connect("maintenanceUrl"));

test("status shows residents, blocks and pending maintenance, and whether something is to be done", async () => {
  const { status, out } = await run("status");
  expect(status).toBe(0);
  expect(out).toContain(
    "Residents: 600 in 1 blocks of at most 600\nPending changes: 101\nSubstring counts: 0 of 1 ready",
  );
  expect(out).toContain("Nothing to do: the next maintenance run, within five minutes, continues.");
  const { out: json } = await run("status", "--json");
  expect(JSON.parse(json)).toMatchObject({ residents: 600, pending: 101, stale: 1 });
});

test("verify accepts all counts, also with changes that are not applied", async () => {
  expect(await run("verify")).toMatchObject({ status: 0, out: "All counts are correct. Nothing to do.\n" });
});

test("verify and maintenance fail on a bypassed count until rebuild corrects it", async () => {
  await bypass("delete from resident.resident where id <= 5");
  await work("resident-changes");
  expect(await run("verify")).toMatchObject({
    status: 1,
    errors: expect.stringMatching(
      /^Block 1: the stored count is 600, but it has 595 rows\.\nRun: npm run city -- residents rebuild/,
    ),
  });
  await expect(work("resident-recount")).rejects.toThrow(
    /wrong resident counts: .*"counted":600,"found":595/,
  );

  expect(await run("rebuild")).toMatchObject({
    status: 0,
    out: expect.stringContaining("Substring counts: 1 of 1 ready"),
  });
  expect((await run("verify")).status).toBe(0);
  await work("resident-recount");
  const [page] = await sql<{ total: string }[]>`select total from resident.list(1, 1, 'p', 'k', 'r')`;
  expect(page?.total).toBe("595");
});

/** Names the triggers in each state: `A` is ENABLE ALWAYS, `O` is what a restore leaves. */
const findTriggers = async () => {
  const triggers = await sql<{ state: string; names: string }[]>`
    select tgenabled as state, string_agg(tgname, ', ' order by tgname) as names from pg_trigger
    where tgrelid = 'resident.resident'::regclass and not tgisinternal group by tgenabled`;
  return Object.fromEntries(triggers.map(({ state, names }) => [state, names]));
};

test("verify and maintenance fail after a data-only restore until rebuild sets the triggers again", async () => {
  const { A: names = "" } = await findTriggers();
  const restore = `set role municipal_owner; alter table resident.resident disable trigger all;
    delete from resident.resident where id <= 5;
    alter table resident.resident enable trigger all; reset role`;
  await sql.unsafe(restore).simple();
  expect(await findTriggers()).toEqual({ O: names });
  expect(await run("verify")).toMatchObject({
    status: 1,
    errors: `Block 1: the stored count is 600, but it has 595 rows.
${names
  .split(", ")
  .map((name) => `Trigger ${name} is not ENABLE ALWAYS.\n`)
  .join("")}Run: npm run city -- residents rebuild\n`,
  });
  await expect(work("resident-recount")).rejects.toThrow(`triggers are not ENABLE ALWAYS: ${names}`);
  expect((await run("rebuild")).status).toBe(0);
  expect(await findTriggers()).toEqual({ A: names });
  expect((await run("verify")).status).toBe(0);
});

test("verify finds a wrong count of a substring", async () => {
  await run("rebuild");
  await sql`update resident.substring_count set counts = array_fill(7, array[128]) where term = 'si'`;
  expect(await run("verify")).toMatchObject({
    status: 1,
    errors: expect.stringContaining("substring counts are correct"),
  });
});

test("TRUNCATE is rejected with an alternative, and every trigger is ALWAYS", async () => {
  const refusal = await sql`truncate resident.resident`.catch((error) => error);
  expect([refusal.code, refusal.hint]).toEqual([
    "0A000",
    expect.stringContaining("npm run city -- residents rebuild"),
  ]);
  expect(Object.keys(await findTriggers())).toEqual(["A"]);
});
