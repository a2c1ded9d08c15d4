import type postgres from "postgres";
import { beforeEach, expect, test } from "vitest";
import { cancelRun } from "#lib/messenger/outbox/cancel.ts";
import { recover, requeue, requeueUnsent } from "#lib/messenger/outbox/outcome.ts";
import { storePayload } from "#lib/messenger/outbox/payload.ts";
import { createMessengerDatabase } from "../../fleet/messenger-database.ts";
import { beginTerm, putMessage, takeAny } from "./outbox-rows.ts";

let sql: postgres.Sql;
let admin: postgres.Sql;
let run: string;
beforeEach(async () => {
  const database = await createMessengerDatabase();
  sql = database.connect(4);
  ({ admin } = database);
  const [row] = await admin<{ id: string }[]>`
    insert into notification.run (job, template, scheduled_at) values ('bulk:march', 'reminder', now()) returning id`;
  run = row?.id ?? "";
});
const put = (id: string, phone = "6281200000001") => putMessage(sql, id, { run, phone, class: "bulk" });
const states = () => sql`select id, state from messaging.message order by id`;

test("what waits of a run is cancelled, once, and nothing of other runs or of what may have left", async () => {
  const epoch = await beginTerm(sql);
  await put("A");
  const sent = (await takeAny(sql, epoch)) ?? expect.fail("nothing was taken");
  await storePayload(sql, { id: "A", epoch: epoch }, "whatsapp", Buffer.from("payload"));
  await requeue(sql, sent, 3_600);
  await put("B", "6281200000002");
  await requeueUnsent(sql, (await takeAny(sql, epoch)) ?? expect.fail("nothing was taken"), 3_600);
  await put("C", "6281200000003");
  await putMessage(sql, "D", { phone: "6281200000004" });
  expect(await cancelRun(sql, "march")).toBe(2);
  expect(await cancelRun(sql, "march")).toBe(0);
  expect(await states()).toEqual([
    { id: "A", state: "PENDING" },
    { id: "B", state: "CANCELLED" },
    { id: "C", state: "CANCELLED" },
    { id: "D", state: "PENDING" },
  ]);
});

test("a message that was being sent while its run was cancelled waits no more, unless it may have left", async () => {
  const epoch = await beginTerm(sql);
  const take = async () => (await takeAny(sql, epoch)) ?? expect.fail("nothing was taken");
  await put("A");
  const unsent = await take();
  await put("B", "6281200000002");
  await take();
  await put("C", "6281200000003");
  const left = await take();
  await storePayload(sql, { id: "C", epoch: epoch }, "whatsapp", Buffer.from("payload"));
  expect(await cancelRun(sql, "march")).toBe(0);
  await requeueUnsent(sql, unsent, 0);
  await requeue(sql, left, 0);
  // the account has another leader
  await recover(sql, await beginTerm(sql));
  expect(await states()).toEqual([
    { id: "A", state: "CANCELLED" },
    { id: "B", state: "CANCELLED" },
    { id: "C", state: "PENDING" },
  ]);
});

test("a message that is accepted after its run was cancelled is cancelled", async () => {
  await cancelRun(sql, "march");
  await put("A");
  expect(await states()).toEqual([{ id: "A", state: "CANCELLED" }]);
});

test("a message whose acceptance commits while its run is cancelled is cancelled", async () => {
  let cancelling: Promise<number | undefined> | undefined;
  await sql.begin(async (transaction) => {
    await putMessage(transaction as unknown as postgres.Sql, "A", { run, class: "bulk" });
    cancelling = cancelRun(sql, "march");
    await expect
      .poll(async () => (await admin`select from pg_locks where not granted`).count)
      .toBeGreaterThan(0);
  });
  expect(await cancelling).toBe(1);
  expect(await states()).toEqual([{ id: "A", state: "CANCELLED" }]);
});

test.each(["april", "appointment-reminder", "march' or '1'='1", "", "a".repeat(2_000)])(
  "no run is called %j",
  async (name) => {
    await admin`insert into notification.run (job, scheduled_at) values ('appointment-reminder', now())`;
    expect(await cancelRun(sql, name)).toBeUndefined();
  },
);
