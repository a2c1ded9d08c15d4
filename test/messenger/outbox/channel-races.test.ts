import { expect, test } from "vitest";
import { firstAccount } from "#lib/messenger/account/account.ts";
import { cancel } from "#lib/messenger/outbox/cancel.ts";
import { expire, markFailed, returnToQueue } from "#lib/messenger/outbox/lifecycle.ts";
import { reasons } from "#lib/messenger/outbox/message.ts";
import { moveLate } from "#lib/messenger/outbox/next-channel.ts";
import { applyReceipt, markSent } from "#lib/messenger/outbox/receipt.ts";
import { putMessage } from "../../fleet/outbox-rows.ts";
import { addAccount, age, compose, hold, look, put, report, sms, useChannels } from "./channel-steps.ts";
import { sql } from "./outbox-steps.ts";

useChannels();

test("a notice that an earlier attempt may have sent goes on to no channel when a later one fails", async () => {
  await put("notice");
  await returnToQueue(sql, await compose(), { cost: "send" });
  await markFailed(sql, await compose(), reasons.notRegistered);
  expect(await look("notice")).toBe(`UNCERTAIN main ${reasons.notRegistered}`);
  await applyReceipt(sql, firstAccount, "notice", "DELIVERED");
  expect(await look("notice")).toBe("DELIVERED main");
});

test("a code that an earlier attempt may have sent is uncertain when a later one and the next channel fail", async () => {
  await put("code");
  await returnToQueue(sql, await compose(), { cost: "send" });
  await markFailed(sql, await compose(), reasons.notRegistered);
  expect(await look("code")).toBe("PENDING gateway");
  await markFailed(sql, await compose(sms), reasons.unprepared);
  expect(await look("code")).toBe(`UNCERTAIN gateway ${reasons.unprepared}`);
});

test("a message that is scheduled has its whole time at its first channel", async () => {
  const send_at = new Date(Date.now() + 3_600_000).toISOString();
  await put("notice", { send_at, expires_in_seconds: 600 });
  await put("code", { send_at, expires_in_seconds: 300 });
  await age(3_601);
  expect(await moveLate(sql)).toBe(0);
  await age(8);
  await moveLate(sql);
  expect([await look("notice"), await look("code")]).toEqual(["PENDING any", "PENDING gateway"]);
});

test("a code that its channel is to try again later does not wait for that", async () => {
  await put("code");
  await returnToQueue(sql, await compose(), {
    cost: "nothing",
    delaySeconds: 900,
    rejections: { "slow-down": 1 },
  });
  await sql`update messaging.message set due_at = due_at - interval '8 s'`;
  await moveLate(sql);
  expect(await look("code")).toBe("PENDING gateway");
});

test("an answer of a former channel does not end the sending at the present one", async () => {
  await put("code");
  const first = await compose();
  await age(8);
  await moveLate(sql);
  const second = await compose(sms);
  await markSent(sql, first);
  expect(await look("code")).toBe("SENDING gateway");
  await returnToQueue(sql, second, { cost: "nothing" });
  expect((await compose(sms)).content.sealed).toBe("c2VhbGVk");
});

test("a code that an earlier channel may have sent cannot be cancelled", async () => {
  await put("code");
  await markSent(sql, await compose());
  await age(8);
  await moveLate(sql);
  await expect(cancel(sql, "code", "api:test")).rejects.toMatchObject({ status: 409 });
  await applyReceipt(sql, firstAccount, "code", "DELIVERED");
  expect(await look("code")).toBe("DELIVERED main");
});

test("two gateways may number their messages alike", async () => {
  const other = await addAccount("other", "sms");
  for (const [id, account] of [
    ["code", sms],
    ["notice", other],
  ] as const) {
    await put(id, { phone: `62812000000${account}` });
    await sql`update messaging.message set account = ${account} where id = ${id}`;
    await markSent(sql, await compose(account), "1");
  }
  expect(await report({ reference: "1", state: "DELIVERED" }, other)).toBe(true);
  expect([await look("code"), await look("notice")]).toEqual(["SENT gateway", "DELIVERED other"]);
  expect(await report({ id: "code", state: "DELIVERED" }, other)).toBe(false);
});

test("a message that waits at a later channel holds back no others to its recipient", async () => {
  await put("notice");
  await hold(firstAccount);
  await moveLate(sql);
  await sql`update messaging.account set hold_code = null`;
  await putMessage(sql, "later", { class: "transactional" });
  expect((await compose()).id).toBe("later");
});

test("a notice goes on from an account that was retired after it was given to it", async () => {
  const official = await addAccount("official", "cloud-api");
  await put("notice");
  await hold(firstAccount);
  await moveLate(sql);
  expect(await look("notice")).toBe("PENDING official");
  await sql`update messaging.account set state = 'retired' where id = ${official}`;
  await moveLate(sql);
  expect(await look("notice")).toBe("PENDING gateway");
});

test("a message whose failure is reported after it has expired keeps the reason", async () => {
  await addAccount("official", "cloud-api");
  await sql`update messaging.account set channel = 'cloud-api' where id = ${firstAccount}`;
  await put("notice");
  await markSent(sql, await compose());
  await age(73 * 3_600);
  await sql`update messaging.payload set channel = 'cloud-api'`;
  await report({ id: "notice", state: "FAILED", code: "500" }, firstAccount);
  await expire(sql);
  expect(await look("notice")).toMatch(/^FAILED main rejected by the platform, code 500/);
});
