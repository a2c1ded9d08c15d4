import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { listBlocked } from "../fleet/blocked-connections.ts";
import {
  database,
  openConsole,
  phone,
  platform,
  sql,
  stageEachTest,
  start,
  startOpen,
  submit,
  untilOpen,
} from "../fleet/running-task.ts";

stageEachTest();

test("the console of a running task says why a message waits, and opts its number out and in again", async () => {
  const task = await start();
  await expect.poll(() => task.findLeadership()?.whatsApp?.state().kind).toBe("pairing");
  await submit(task, {});
  const { read, press } = await openConsole(task);
  const page = await read();
  expect(page).toContain("No phone is linked: nothing is sent.");
  expect(page).toContain("Waits: its account is not connected");

  const countOptOuts = async () => (await database.admin`select from notification.opt_out`).count;
  const fields = { phone, confirmed: "yes" };
  expect(await press("opt-out", fields)).toContain("6281•••••••01 has opted out.");
  expect(await countOptOuts()).toBe(1);
  expect(await press("opt-out", fields)).toContain("had already opted out");
  expect(await press("opt-in", fields)).toContain("has opted in again");
  expect(await countOptOuts()).toBe(0);
  const acts = await sql`
    select action, subject, result from messaging.operator_act join messaging.operator_result on act = id order by id`;
  expect(acts.map(({ action, subject, result }) => [action, subject, result])).toEqual([
    ["login", null, "done"],
    ["opt-out", "6281•••••••01", "done"],
    ["opt-out", "6281•••••••01", "done"],
    ["opt-in", "6281•••••••01", "done"],
  ]);
});

test("the console counts from when WhatsApp was last connected, also while it is tried again", async () => {
  const task = await startOpen();
  const { read } = await openConsole(task);
  const down = () => sql<{ since: Date | null }[]>`select down_since as since from messaging.account`;
  await expect.poll(down).toEqual([{ since: null }]);
  platform.leave();
  await expect.poll(down).toEqual([{ since: expect.any(Date) }]);
  await database.admin`update messaging.account set down_since = down_since - interval '10 minutes'`;
  const before = platform.sockets.everOpened;
  await expect.poll(() => task.findLeadership()?.whatsApp?.state().kind).toBe("connecting");
  expect(await read()).toContain("10 min ago");
  platform.comeBack();
  await untilOpen(task);
  expect(platform.sockets.everOpened).toBeGreaterThan(before);
  await expect.poll(down).toEqual([{ since: null }]);
});

test("the console of a running task cancels what waits of a bulk run, and records its name", async () => {
  const task = await start();
  const submission = { sender: "notification", class: "bulk", run: randomUUID() };
  const waiting = await submit(task, submission);
  const begun = await submit(task, submission);
  await database.admin`update messaging.message set state = 'SENDING', attempts = 1 where id = ${begun.id}`;
  await database.admin`
    insert into notification.run (id, job, template, scheduled_at, accepted)
    values (${submission.run}, 'bulk:march', 'reminder', now(), 2)`;
  const { press } = await openConsole(task);
  const fields = { run: "march", confirmed: "yes" };
  expect(await press("cancel-run", { ...fields, run: "april" })).toContain("There is no such bulk run.");
  expect(await press("cancel-run", fields)).toContain(
    "Run cancelled: 1 message that waited will not be sent.",
  );
  const states = await sql`select id, state from messaging.message order by seq`;
  expect(states.map(({ id, state }) => [id, state])).toEqual([
    [waiting.id, "CANCELLED"],
    [begun.id, "SENDING"],
  ]);
  expect(await sql`select state from notification.run`).toEqual([{ state: "cancelled" }]);
  expect(await sql`select subject from messaging.operator_act order by id desc limit 1`).toEqual([
    { subject: "march" },
  ]);
});

test("however many operators read while the database is slow, the sender's connections stay free", async () => {
  const task = await start();
  const { read, submit: press } = await openConsole(task);
  const reading = database.connectConsole();
  let most = 0;
  let mostOfSender = 0;
  await database.admin.begin(async (transaction) => {
    await transaction`lock table notification.run in access exclusive mode`;
    const reads: Promise<string>[] = [];
    for (let n = 0; n < 6; n += 1) {
      await press("search", { sender: `api:${n}` });
      reads.push(read());
    }
    let areRead = false;
    const shown = Promise.all(reads).finally(() => {
      areRead = true;
    });
    while (!areRead) {
      await setTimeout(20);
      most = Math.max(most, (await listBlocked(reading)).length);
      mostOfSender = Math.max(mostOfSender, (await listBlocked(sql)).length);
    }
    expect(await shown).toEqual(Array(6).fill(expect.stringMatching(/takes longer than 2 s|is unavailable/)));
  });
  expect([most, mostOfSender]).toEqual([1, 0]);
  // those that waited for a connection are read now
  const listBusy = () => reading`
    select pid, state from pg_stat_activity
    where datname = current_database() and usename = 'municipal_console' and state <> 'idle' and pid <> pg_backend_pid()`;
  await expect.poll(async () => [...(await listBusy())]).toEqual([]);
});
