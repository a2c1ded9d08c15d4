import type postgres from "postgres";
import { beforeEach, expect, test } from "vitest";
import { cancelRun } from "#lib/messenger/outbox/cancel.ts";
import { recover, returnToQueue } from "#lib/messenger/outbox/lifecycle.ts";
import { beginTerm, putMessage } from "../../fleet/outbox-rows.ts";
import { database, listStates, prepare, put, sql, take, useOutbox } from "./outbox-steps.ts";

let run: string;
useOutbox(4);
beforeEach(async () => {
  const [row] = await database.admin<{ id: string }[]>`
    insert into notification.run (job, template, scheduled_at) values ('bulk:march', 'reminder', now()) returning id`;
  run = row?.id ?? "";
});
const putOfRun = (id: string, phone = "6281200000001") => put(id, { run, phone, class: "bulk" });

test("what waits of a run is cancelled, once, and nothing of other runs or of what may have left", async () => {
  await putOfRun("A");
  const sent = await take();
  await prepare(sent);
  await returnToQueue(sql, sent, { cost: "send", delaySeconds: 3_600 });
  await putOfRun("B", "6281200000002");
  await returnToQueue(sql, await take(), { cost: "nothing", delaySeconds: 3_600 });
  await putOfRun("C", "6281200000003");
  await put("D", { phone: "6281200000004" });
  expect(await cancelRun(sql, "march")).toBe(2);
  expect(await cancelRun(sql, "march")).toBe(0);
  expect(await listStates()).toEqual({ A: "PENDING", B: "CANCELLED", C: "CANCELLED", D: "PENDING" });
});

test("a message that was being sent while its run was cancelled waits no more, unless it may have left", async () => {
  await putOfRun("A");
  const unsent = await take();
  await putOfRun("B", "6281200000002");
  await take();
  await putOfRun("C", "6281200000003");
  const left = await take();
  await prepare(left);
  expect(await cancelRun(sql, "march")).toBe(0);
  await returnToQueue(sql, unsent, { cost: "nothing" });
  await returnToQueue(sql, left, { cost: "send" });
  // the account has another leader
  await recover(sql, await beginTerm(sql));
  expect(await listStates()).toEqual({ A: "CANCELLED", B: "CANCELLED", C: "PENDING" });
});

test("a message that is accepted after its run was cancelled is cancelled", async () => {
  await cancelRun(sql, "march");
  await putOfRun("A");
  expect(await listStates()).toEqual({ A: "CANCELLED" });
});

test("a message whose acceptance commits while its run is cancelled is cancelled", async () => {
  let cancelling: Promise<number | undefined> | undefined;
  await sql.begin(async (transaction) => {
    await putMessage(transaction as unknown as postgres.Sql, "A", { run, class: "bulk" });
    cancelling = cancelRun(sql, "march");
    await expect
      .poll(async () => (await database.admin`select from pg_locks where not granted`).count)
      .toBeGreaterThan(0);
  });
  expect(await cancelling).toBe(1);
  expect(await listStates()).toEqual({ A: "CANCELLED" });
});

test.each(["april", "appointment-reminder", "march' or '1'='1", "", "a".repeat(2_000)])(
  "no run is called %j",
  async (name) => {
    await database.admin`insert into notification.run (job, scheduled_at) values ('appointment-reminder', now())`;
    expect(await cancelRun(sql, name)).toBeUndefined();
  },
);
