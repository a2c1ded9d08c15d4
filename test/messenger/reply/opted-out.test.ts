import { expect, test } from "vitest";
import {
  ask,
  database,
  eventually,
  json,
  openConsole,
  phone,
  platform,
  sql,
  stageEachTest,
  start,
  startOpen,
  stateOf,
  submit,
  text,
  untilOpen,
} from "../../fleet/running-task.ts";
import { isOut, listReplies, untilTexts, write } from "./reply-steps.ts";

stageEachTest();

const reason = "the recipient has opted out";
const pause = (paused: boolean) => sql`update messaging.control set paused = ${paused}`;

test("reminders and bulk messages to a number that has opted out are 403, others reach it", async () => {
  const task = await startOpen();
  await write("stop");
  for (const kind of ["reminder", "bulk"]) {
    const { status, json: body } = await ask(task, "/messages", json({ ...text, class: kind }));
    expect([status, body]).toEqual([
      403,
      {
        code: "opted_out",
        message:
          "This number has opted out of reminders and bulk messages. Transactional messages still reach it.",
      },
    ]);
  }
  for (const kind of ["one-time-code", "transactional"])
    await eventually(task, (await submit(task, { class: kind })).id, "READ");
  await submit(task, { class: "reminder", phone: "6281200000002" });
  await write("mulai");
  await eventually(task, (await submit(task, { class: "bulk" })).id, "READ");
});

test("a repeated request gets its first answer, although its recipient has opted out since", async () => {
  const task = await startOpen();
  const reminder = { class: "reminder", idempotency_key: "one" };
  const { id } = await submit(task, reminder);
  await eventually(task, id, "READ");
  await write("stop");
  expect((await submit(task, reminder)).id).toBe(id);
});

test.each([
  ["STOP", async () => write("stop")],
  ["an opt-out in the console", async () => {}],
])("%s ends what waits for the number, before it is confirmed, and nothing else", async (by, act) => {
  const task = await startOpen();
  await pause(true);
  const ids: string[] = [];
  for (const kind of ["one-time-code", "transactional", "reminder", "bulk"])
    ids.push((await submit(task, { class: kind, text: kind })).id);
  const { id: other } = await submit(task, { class: "bulk", phone: "6281200000002" });
  if (by === "STOP") await act();
  else await (await openConsole(task)).press("opt-out", { phone, confirmed: "yes" });
  const states = await Promise.all([...ids, other].map((id) => stateOf(task, id)));
  expect(states.map(({ status }) => status)).toEqual(["PENDING", "PENDING", "FAILED", "FAILED", "PENDING"]);
  expect(states.map((state) => state.reason)).toEqual([undefined, undefined, reason, reason, undefined]);
  await pause(false);
  await eventually(task, ids[1] ?? "", "READ");
  const texts = await untilTexts(by === "STOP" ? 3 : 2);
  expect(texts.slice(0, 2)).toEqual(["one-time-code", "transactional"]);
});

test("a reminder that was accepted although its recipient had just opted out is not sent", async () => {
  const task = await startOpen();
  await write("stop");
  await untilTexts(1);
  // a notification job has read the opt-outs before
  const submissions = [{ ...text, class: "reminder", idempotency_key: "one" }];
  const { json: body } = await ask(task, "/messages/batch", json({ submissions }));
  const [id = ""] = (body as { ids: string[] }).ids;
  await eventually(task, id, "FAILED");
  expect([(await stateOf(task, id)).reason, platform.arrivalsOf(id)]).toEqual([reason, 0]);
});

test("a bulk message that is being sent arrives before the confirmation", async () => {
  const task = await startOpen();
  platform.behave({ receipts: ["read"], ackDelayMs: 1_500 });
  const { id } = await submit(task, { class: "bulk", text: "bulk" });
  await untilTexts(1);
  await write("stop");
  expect((await stateOf(task, id)).status).toBe("SENDING");
  expect((await untilTexts(2)).map((words) => words.slice(0, 4))).toEqual(["bulk", "Nomo"]);
  await eventually(task, id, "READ");
});

test.each([
  ["waits for its next send", true],
  ["is being sent again", false],
])("one that may have been sent and %s is uncertain, and is not sent again", async (_, waits) => {
  const task = await startOpen();
  platform.behave({ ack: false, receipts: [] });
  const { id } = await submit(task, { class: "bulk" });
  await platform.until(() => platform.arrivalsOf(id) === 1);
  if (waits) {
    await pause(true);
    await expect.poll(async () => (await stateOf(task, id)).status, { timeout: 20_000 }).toBe("PENDING");
  }
  await write("stop");
  platform.behave({});
  await expect.poll(async () => (await stateOf(task, id)).status, { timeout: 20_000 }).toBe("UNCERTAIN");
  expect((await stateOf(task, id)).reason).toBe(reason);
  await pause(false);
  await expect.poll(async () => (await listReplies())[0]?.state, { timeout: 20_000 }).toBe("DELIVERED");
  expect(platform.arrivalsOf(id)).toBe(1);
});

test("STOP from the number that the platform has for another one opts both out", async () => {
  const task = await startOpen();
  const dialled = "6281200000091";
  await sql`insert into messaging.number_check (account, phone, address) values (1, ${dialled}, ${`${phone}@s.whatsapp.net`})`;
  await pause(true);
  const { id } = await submit(task, { class: "reminder", phone: dialled });
  await write("stop");
  expect([await isOut(), await isOut(dialled)]).toEqual([true, true]);
  expect((await stateOf(task, id)).reason).toBe(reason);
  const { status } = await ask(task, "/messages", json({ ...text, phone: dialled, class: "bulk" }));
  expect(status).toBe(403);
});

test("the messenger can neither list nor count who has opted out", async () => {
  await expect(sql`select count(*) from notification.opt_out`).rejects.toThrow("permission denied");
  await expect(database.admin`select 1 from notification.opt_out`).resolves.toHaveLength(0);
});

test("an opt-out binds a messenger that starts later", async () => {
  const first = await startOpen();
  await write("stop");
  await first.stop();
  const second = await start();
  await untilOpen(second);
  expect((await ask(second, "/messages", json({ ...text, class: "bulk" }))).status).toBe(403);
});
