import { expect, test } from "vitest";
import { firstAccount } from "#lib/messenger/account/account.ts";
import { cancel } from "#lib/messenger/outbox/cancel.ts";
import { expire, markFailed, returnToQueue } from "#lib/messenger/outbox/lifecycle.ts";
import { reasons } from "#lib/messenger/outbox/message.ts";
import { dropCodes, moveLate } from "#lib/messenger/outbox/next-channel.ts";
import { applyReceipt, markSent } from "#lib/messenger/outbox/receipt.ts";
import { findState } from "#lib/messenger/outbox/state.ts";
import { putMessage } from "../../fleet/outbox-rows.ts";
import { age, compose, hold, look, put, report, sms, useChannels } from "./channel-steps.ts";
import { sql } from "./outbox-steps.ts";

useChannels();

test("a notice that its channel cannot send begins anew at the next one", async () => {
  await put("notice");
  await markFailed(sql, await compose(), reasons.notRegistered);
  expect(await look("notice")).toBe("PENDING gateway");
  const again = await compose(sms);
  expect([again.attempts, again.payload]).toEqual([1, null]);
  await markFailed(sql, again, reasons.unprepared);
  expect(await look("notice")).toBe(`FAILED gateway ${reasons.unprepared}`);
});

test("a bulk message that its channel cannot send has failed", async () => {
  await put("bulk");
  await markFailed(sql, await compose(), reasons.notRegistered);
  expect(await look("bulk")).toBe(`FAILED main ${reasons.notRegistered}`);
});

test("a message to a number that has opted out goes on to no channel", async () => {
  await put("notice", { class: "reminder" });
  await markFailed(sql, await compose(), reasons.optedOut);
  expect(await look("notice")).toBe(`FAILED main ${reasons.optedOut}`);
  await sql`update messaging.message set state = 'PENDING', account = ${sms}`;
  await sql`select messaging.end_unwanted(array['6281200000001'])`;
  expect(await look("notice")).toBe(`FAILED gateway ${reasons.optedOut}`);
});

const steps: Readonly<Record<string, () => Promise<unknown>>> = {
  "before it was sent": async () => {},
  "while it is being sent": () => compose(),
  "after it was sent": async () => markSent(sql, await compose()),
  "without an answer": async () => returnToQueue(sql, await compose(), { cost: "send", canRepeat: false }),
};

test.each(Object.keys(steps))("a code without a confirmation for 8 seconds goes on, %s", async (step) => {
  await put("code");
  await steps[step]?.();
  await age(7);
  expect(await moveLate(sql)).toBe(0);
  await age(1);
  expect(await moveLate(sql)).toBe(1);
  expect(await look("code")).toBe("PENDING gateway");
  expect((await compose(sms)).content.sealed).toBe("c2VhbGVk");
});

test("a code that was delivered in time goes on to no channel", async () => {
  await put("code");
  await markSent(sql, await compose());
  await applyReceipt(sql, firstAccount, "code", "DELIVERED");
  await age(9);
  expect(await moveLate(sql)).toBe(0);
  expect(await look("code")).toBe("DELIVERED main");
});

test("a code that the first channel delivers late after all is not sent by the next one", async () => {
  await put("code");
  await markSent(sql, await compose());
  await age(8);
  await moveLate(sql);
  await applyReceipt(sql, firstAccount, "code", "DELIVERED");
  expect(await look("code")).toBe("DELIVERED main");
  await expect(compose(sms)).rejects.toThrow("nothing was taken");
});

test("each channel has 8 seconds for a code", async () => {
  await sql`insert into messaging.account (name, channel, number) values ('official', 'cloud-api', '6281100000009')`;
  await put("code");
  await markSent(sql, await compose());
  await age(8);
  await moveLate(sql);
  expect(await look("code")).toBe("PENDING official");
  expect(await moveLate(sql)).toBe(0);
  await age(8);
  await moveLate(sql);
  expect(await look("code")).toBe("PENDING gateway");
});

test("a code that the last channel rejects is uncertain if an earlier one may have sent it", async () => {
  await put("code");
  await returnToQueue(sql, await compose(), { cost: "send" });
  await age(8);
  await moveLate(sql);
  await markFailed(sql, await compose(sms), reasons.unprepared);
  expect(await look("code")).toBe(`UNCERTAIN gateway ${reasons.unprepared}`);
});

test("a code that expires at the last channel is uncertain if an earlier one may have sent it", async () => {
  await put("code");
  await markSent(sql, await compose());
  await age(8);
  await moveLate(sql);
  await sql`update messaging.message set expires_at = now()`;
  await expire(sql);
  expect(await look("code")).toMatch(/^UNCERTAIN gateway/);
});

test("a code that has expired goes on to no channel, and its text is dropped", async () => {
  await put("code");
  await markSent(sql, await compose());
  await age(8);
  await sql`update messaging.message set expires_at = now()`;
  expect(await moveLate(sql)).toBe(0);
  expect(await dropCodes(sql, 10)).toBe(1);
  expect(await sql`select from messaging.message where content ? 'sealed'`).toHaveLength(0);
});

test("the text of a code is dropped when it is sent where no channel follows", async () => {
  await sql`update messaging.account set state = 'retired' where id = ${sms}`;
  await put("code");
  await markSent(sql, await compose());
  expect(await sql`select from messaging.message where content ? 'sealed'`).toHaveLength(0);
});

test("a notice goes on when no account of its channel can send, unless it may have left", async () => {
  await put("notice");
  await hold(firstAccount);
  expect(await moveLate(sql)).toBe(1);
  expect(await look("notice")).toBe("PENDING gateway");
  await sql`update messaging.message set account = ${firstAccount}, attempts = 1`;
  expect(await moveLate(sql)).toBe(0);
});

test("a bulk message waits while no account of its channel can send", async () => {
  await put("bulk");
  await hold(firstAccount);
  expect(await moveLate(sql)).toBe(0);
});

test("a notice waits while the next channel cannot send either", async () => {
  await put("notice");
  await hold(firstAccount);
  await hold(sms);
  expect(await moveLate(sql)).toBe(0);
});

test("a notice that has not left goes on in the last tenth of its time, at most an hour before it expires", async () => {
  await put("notice", { expires_in_seconds: 1_000 });
  await sql`update messaging.message set due_at = now() - interval '890 s', expires_at = now() + interval '110 s'`;
  expect(await moveLate(sql)).toBe(0);
  await sql`update messaging.message set due_at = now() - interval '901 s', expires_at = now() + interval '99 s'`;
  expect(await moveLate(sql)).toBe(1);
  await sql`update messaging.message set account = ${firstAccount}, due_at = now() - interval '70 h',
    expires_at = now() + interval '61 m'`;
  expect(await moveLate(sql)).toBe(0);
});

test("a message that was given to another channel can be cancelled", async () => {
  await put("notice");
  await hold(firstAccount);
  await moveLate(sql);
  expect(await cancel(sql, "notice", "api:test")).toMatchObject({ status: "CANCELLED" });
});

test("later messages to a recipient are sent by the first channel again", async () => {
  await put("notice");
  await hold(firstAccount);
  await moveLate(sql);
  await markSent(sql, await compose(sms));
  expect(await look("notice")).toBe("SENT gateway");
  await sql`update messaging.account set hold_code = null`;
  await putMessage(sql, "later", { class: "transactional" });
  expect((await compose()).id).toBe("later");
});

test("accounts of a later channel do not take what waits for any account", async () => {
  await put("notice");
  await expect(compose(sms)).rejects.toThrow("nothing was taken");
});

test("what a platform reports is found by the message's id and by the platform's own", async () => {
  await put("notice");
  await sql`update messaging.message set account = ${sms}`;
  await markSent(sql, await compose(sms), "gateway-1");
  expect(await report({ reference: "another", state: "READ" })).toBe(false);
  expect(await report({ reference: "gateway-1", state: "DELIVERED" })).toBe(true);
  expect(await look("notice")).toBe("DELIVERED gateway");
  expect(await report({ id: "notice", state: "READ" })).toBe(true);
  expect(await look("notice")).toBe("READ gateway");
});

test("a report of an account that was not given the message changes nothing", async () => {
  await put("notice");
  await compose();
  expect(await report({ id: "notice", state: "DELIVERED" })).toBe(false);
  expect(await look("notice")).toBe("SENDING main");
});

test("a report settles a message whose request got no answer", async () => {
  await put("notice");
  await sql`update messaging.message set account = ${sms}`;
  await returnToQueue(sql, await compose(sms), { cost: "send", canRepeat: false });
  expect(await look("notice")).toBe(`UNCERTAIN gateway ${reasons.unanswered}`);
  await report({ id: "notice", state: "SENT" });
  expect(await look("notice")).toBe("SENT gateway");
});

test("a report that a message has failed ends it, but not one that was delivered", async () => {
  await put("notice");
  await sql`update messaging.message set account = ${sms}`;
  await markSent(sql, await compose(sms));
  await report({ id: "notice", state: "FAILED", code: "500" });
  expect(await look("notice")).toBe(
    "FAILED gateway rejected by the platform, code 500: the platform has an internal error",
  );
  await sql`update messaging.message set state = 'DELIVERED', reason = null`;
  await report({ id: "notice", state: "FAILED", code: "500" });
  expect(await look("notice")).toBe("DELIVERED gateway");
});

test("the state says what the channel leaves out of a message", async () => {
  await put("notice", { view_once: true, duration_seconds: 60, reply_to: "X" });
  await sql`update messaging.message set kind = 'image', account = ${sms}`;
  expect(await findState(sql, "notice")).toMatchObject({
    account: "gateway",
    channel: "sms",
    left_out: ["media", "view_once", "duration_seconds", "reply_to"],
  });
  await sql`update messaging.message set account = ${firstAccount}`;
  expect(await findState(sql, "notice")).not.toHaveProperty("left_out");
});
