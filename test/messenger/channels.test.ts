import { describe, expect, test } from "vitest";
import { noPace } from "#lib/messenger/send/pace.ts";
import { dialects, settingsOf } from "../channels/sms/dialects.ts";
import { type FailureMode, startGateway } from "../channels/sms/gateway.ts";
import * as running from "../fleet/running-task.ts";
import { loopback } from "../steps/loopback.ts";
import { isOut } from "./reply/reply-steps.ts";

running.stageEachTest();

const { phone } = running;

/** Starts a task with a linked account of WhatsApp, and one at an SMS gateway. */
const startBoth = async (failureMode?: (count: number) => FailureMode) => {
  const gateway = await startGateway(dialects.kannel, failureMode);
  await running.database.admin`insert into messaging.account (name, channel) values ('gateway', 'sms')`;
  const settings = settingsOf(dialects.kannel, gateway.url, `${gateway.url}/reports?`);
  const findSettings = async () => settings as never;
  const task = await running.start(noPace, {}, { findSettings, connector: loopback });
  await running.untilOpen(task);
  await expect
    .poll(() => running.sql`select from messaging.account where name = 'gateway' and messaging.can_send(id)`)
    .toHaveLength(1);
  return { task, gateway };
};

/** WhatsApp locks the account. */
const ban = async () => {
  running.platform.behave({ loginFailure: { code: 403 } });
  running.platform.disconnect("drop");
  await expect.poll(() => running.sql`select from messaging.account where hold_code = 403`).toHaveLength(1);
};

const post = (task: Awaited<ReturnType<typeof running.start>>, body: Record<string, unknown>) =>
  running.ask(
    task,
    "/channel-events",
    running.json({ account: "gateway", reports: [], replies: [], ...body }),
  );

test("a message goes to WhatsApp while it can, and by SMS when the account is locked", async () => {
  const { task, gateway } = await startBoth();
  const first = await running.submit(task, { phone, text: "by WhatsApp" });
  await running.eventually(task, first.id, "READ");
  expect(await running.stateOf(task, first.id)).toMatchObject({ account: "main", channel: "whatsapp" });
  await ban();
  const second = await running.submit(task, { phone, text: "by SMS" });
  await running.eventually(task, second.id, "SENT");
  expect(await running.stateOf(task, second.id)).toMatchObject({ account: "gateway", channel: "sms" });
  expect(gateway.textsTo(phone)).toEqual(["by SMS"]);
});

test("a code that no phone confirms is sent by SMS too, with the text that was encrypted", async () => {
  const { task, gateway } = await startBoth();
  running.platform.behave({ receipts: [] });
  const { id } = await running.submit(task, { phone, text: "Kode 123456", class: "one-time-code" });
  await running.eventually(task, id, "SENT");
  await running.database.admin`update messaging.message set due_at = due_at - interval '8 s'`;
  await gateway.until(() => gateway.taken.length === 1);
  expect(gateway.textsTo(phone)).toEqual(["Kode 123456"]);
  await running.eventually(task, id, "SENT");
  expect(await running.sql`select from messaging.message where content ? 'sealed'`).toHaveLength(0);
});

test("a number without WhatsApp gets its message by SMS", async () => {
  const { task, gateway } = await startBoth();
  const { id } = await running.submit(task, { phone: "6281299999999", text: "hello" });
  await running.eventually(task, id, "SENT");
  expect(gateway.textsTo("6281299999999")).toEqual(["hello"]);
});

test("a gateway's report settles a message whose request got no answer, also of another task", async () => {
  const { task, gateway } = await startBoth(() => "resets-after");
  const { id } = await running.submit(task, { phone: "6281299999999" });
  await running.eventually(task, id, "UNCERTAIN");
  expect(gateway.taken).toHaveLength(1);
  const report = { id, state: "DELIVERED" };
  expect(await post(task, { reports: [report, { ...report, id: "another" }] })).toEqual({
    status: 200,
    json: { applied: 1 },
  });
  await running.eventually(task, id, "DELIVERED");
});

test("STOP by SMS ends reminders on all channels, and is confirmed", async () => {
  const { task } = await startBoth();
  const replies = [{ phone, text: "Berhenti.", sent_at: new Date().toISOString() }];
  expect((await post(task, { replies })).status).toBe(200);
  const { inbox } = running.platform.phone(phone);
  await running.platform.until(() => inbox.length === 1);
  const answer = await running.ask(task, "/messages", running.json({ ...running.text, class: "reminder" }));
  expect(answer).toMatchObject({ status: 403, json: { code: "opted_out" } });
});

describe("STOP of a person whose number is hidden", () => {
  const user = "ID.13491208655302741918";
  const startOfficial = async () => {
    const task = await running.start();
    await running.database
      .admin`insert into messaging.account (name, channel, state) values ('official', 'cloud-api', 'retired')`;
    const { id } = await running.submit(task, { phone });
    await running.database.admin`
      insert into messaging.payload (seq, channel, bytes, reference)
      select seq, 'cloud-api', '', 'wamid.INVENTED' from messaging.message where id = ${id}`;
    const reply = (more: object) => ({ text: "stop", sent_at: new Date().toISOString(), ...more });
    const take = (...replies: object[]) => post(task, { account: "official", replies: replies.map(reply) });
    return { task, id, take };
  };

  test("opts out the number that the message replied to, or an earlier report, shows", async () => {
    const { task, id, take } = await startOfficial();
    await take({ user, reference: "wamid.INVENTED" });
    expect(await isOut()).toBe(true);
    await take({ phone, text: "start" });
    await post(task, { account: "official", reports: [{ id, state: "SENT", user }] });
    await take({ user });
    expect(await isOut()).toBe(true);
  });

  test("is shown to the operator if nothing shows it, until as many numbers are opted out in the console", async () => {
    const { task, take } = await startOfficial();
    await take({ user }, { reference: "wamid.OTHER" }, { user, text: "hello" });
    const operator = await running.openConsole(task);
    expect(await operator.read()).toContain("2 replies such as STOP");
    for (const number of [phone, "6281200000002"])
      await operator.press("opt-out", { phone: number, confirmed: "yes" });
    expect(await operator.read()).not.toContain("replies such as STOP");
  });
});

test("events of an unknown account, or of one of WhatsApp, are 404", async () => {
  const task = await running.start();
  for (const account of ["unknown", "main"]) expect((await post(task, { account })).status).toBe(404);
});
