import type postgres from "postgres";
import { beforeEach, expect, test } from "vitest";
import { type RecipientOutcome, storeOutcomes } from "#lib/notification/recipient.ts";
import { bulkJob, closeRun, openBulkRun } from "#lib/notification/run.ts";
import { createDatabase } from "../steps/temporary-database.ts";

let admin: postgres.Sql;
let sql: postgres.Sql;

beforeEach(async () => {
  const database = await createDatabase();
  admin = database.connect("adminUrl");
  sql = database.connect("messengerUrl");
});

const job = bulkJob("march");
const line = (key: string, outcome: RecipientOutcome["outcome"]): RecipientOutcome => ({
  ...{ key, outcome, line: 1, file: "0123456789ab", masked: "6281•••12" },
});

const scope = { job, at: "-infinity" };
const store = (run: string, batch: readonly RecipientOutcome[]) => storeOutcomes(sql, scope, run, batch);

const readCounts = async () => {
  const [counts] = await admin`select accepted, opted_out, refused, expired from notification.run`;
  return counts;
};

const recount = async () => {
  const [counts] = await admin`
    select count(*) filter (where outcome = 'accepted')::int as accepted,
      count(*) filter (where outcome = 'opted_out')::int as opted_out,
      count(*) filter (where outcome = 'refused')::int as refused,
      count(*) filter (where outcome = 'expired')::int as expired
    from notification.recipient where run_id = (select id from notification.run)`;
  return counts;
};

test("the counts of a run are those of its recipients after each batch, also of recipients whose outcome changes", async () => {
  const open = () => openBulkRun(sql, "march", "reminder", 4);
  const run = await open();
  const counts = [];
  for (const batch of [
    [line("a", "accepted"), line("b", "refused"), line("c", "opted_out")],
    // the message of a stays
    [line("a", "refused"), line("b", "accepted"), line("c", "refused"), line("d", "expired")],
  ]) {
    await store(run, batch);
    counts.push(await readCounts());
    expect(counts.at(-1)).toEqual(await recount());
  }
  expect(counts).toEqual([
    { accepted: 1, opted_out: 1, refused: 1, expired: 0 },
    { accepted: 2, opted_out: 0, refused: 1, expired: 1 },
  ]);
  // opened again, it has only those with a message
  await open();
  expect([await readCounts(), await recount()]).toEqual(
    Array(2).fill({ accepted: 2, opted_out: 0, refused: 0, expired: 0 }),
  );
  await store(run, [line("c", "accepted"), line("d", "refused")]);
  expect([await readCounts(), await recount()]).toEqual(
    Array(2).fill({ accepted: 3, opted_out: 0, refused: 1, expired: 0 }),
  );
});

test("a run's recipients are counted anew when it ends, as two tasks may have stored the same ones at once", async () => {
  const run = await openBulkRun(sql, "march", "reminder", 1);
  await store(run, [line("a", "refused")]);
  await admin`update notification.run set refused = 2`;
  expect(await closeRun(sql, { id: run, job })).toMatchObject({ state: "done", refused: 1 });
});

test("the functions of bulk runs change neither a job's run nor its recipients", async () => {
  const [{ id } = { id: "" }] = await admin<{ id: string }[]>`
    insert into notification.run (job, scheduled_at) values ('appointment-reminder', now()) returning id`;
  await store(id, [line("a", "accepted")]);
  await closeRun(sql, { id, job });
  expect(await readCounts()).toMatchObject({ accepted: 0 });
  expect(await admin`select state from notification.run`).toEqual([{ state: "running" }]);
  expect(await admin`select from notification.recipient`).toHaveLength(0);
});
