import { describe, expect, test } from "vitest";
import { steadyNow } from "#lib/deadline.ts";
import { states } from "#lib/messaging/submission.ts";
import { firstAccount } from "#lib/messenger/account/account.ts";
import {
  deferUntilQuietEnd,
  expire,
  markFailed,
  recover,
  returnToQueue,
} from "#lib/messenger/outbox/lifecycle.ts";
import type { Outgoing } from "#lib/messenger/outbox/message.ts";
import { applyReceipt, markSent } from "#lib/messenger/outbox/receipt.ts";
import { findState } from "#lib/messenger/outbox/state.ts";
import { loadHistory } from "#lib/messenger/send/history.ts";
import { findAddress } from "#lib/messenger/send/number-check.ts";
import { beginTerm, number, takeAny } from "../../fleet/outbox-rows.ts";
import { epoch, listStates, prepare, put, sql, take, useOutbox } from "./outbox-steps.ts";

const phone = "6281200000001";
const other = "6281200000002";

useOutbox();

describe("taking the next message", () => {
  test("takes no later message to a number while an earlier one is being sent", async () => {
    for (const id of ["first", "second"]) await put(id);
    await put("bulk", { phone: other, class: "bulk" });
    expect([(await take()).id, (await take()).id]).toEqual(["first", "bulk"]);
    expect(await takeAny(sql, epoch)).toBeUndefined();
  });

  test("takes a code, but no reminder, before a requeued reminder to the same number", async () => {
    await put("first", { class: "reminder" });
    await returnToQueue(sql, await take(), { cost: "nothing", delaySeconds: 3_600 });
    await put("second", { class: "reminder" });
    await put("code", { class: "one-time-code" });
    const code = await take();
    await markSent(sql, code);
    expect([code.id, await takeAny(sql, epoch)]).toEqual(["code", undefined]);
  });

  test("skips numbers that cool down, and new contacts if none are allowed", async () => {
    await put("first");
    await put("second", { phone: other });
    expect(await takeAny(sql, epoch, { newContactsUpTo: -1 })).toBeUndefined();
    expect(await takeAny(sql, epoch, { resting: [other, phone] })).toBeUndefined();
    const taken = await takeAny(sql, epoch, { resting: [phone] });
    expect(taken).toMatchObject({ id: "second", isNewContact: true });
    await markSent(sql, taken as Outgoing);
    await put("third", { phone: other });
    expect(await takeAny(sql, epoch, { newContactsUpTo: -1 })).toMatchObject({
      id: "third",
      isNewContact: false,
    });
  });
});

test("what waits for the same new contact goes to the account that has written to it first", async () => {
  await sql`update messaging.account set number = ${number}`;
  await put("first");
  await put("again");
  await markSent(sql, await take());
  expect(await takeAny(sql, epoch, { newContactsUpTo: -1, poolUpTo: -1 })).toMatchObject({ id: "again" });
});

test("a former leader takes nothing, and its writes do not affect what the next one has taken", async () => {
  await put("message", { quiet_hours: { from: "00:00", to: "23:59", time_zone: "UTC" } });
  await sql`update messaging.message set not_before = now(), held_until = null`;
  const late = await take();
  const next = await beginTerm(sql);
  expect([await takeAny(sql, epoch), await recover(sql, next)]).toEqual([undefined, 1]);
  await take({}, next);
  const read = () => sql`
    select state, attempts, epoch, bytes as payload, not_before
    from messaging.message left join messaging.payload using (seq)`;
  const taken = await read();
  expect(taken).toMatchObject([{ state: "SENDING", attempts: 2, epoch: next, payload: null }]);
  expect(await prepare(late)).toBe(false);
  await markFailed(sql, late, "late");
  await returnToQueue(sql, late, { cost: "send", delaySeconds: 60 });
  await returnToQueue(sql, late, { cost: "nothing", delaySeconds: 60 });
  await deferUntilQuietEnd(sql, { ...late, quietUntil: new Date(Date.now() + 60_000) });
  expect(await read()).toEqual(taken);
  expect(await prepare({ id: late.id, epoch: next })).toBe(true);
});

test("an upload that is interrupted each time fails, and says so; only what may have left is uncertain", async () => {
  for (const [id, to] of Object.entries({ upload: phone, composed: other })) await put(id, { phone: to });
  const endings = [];
  for (let term = 1; term <= 5; term++) {
    const epoch = await beginTerm(sql);
    for (const taken of [await take({}, epoch), await take({}, epoch)])
      if (taken.id === "composed") await prepare(taken);
    endings.push(await recover(sql, epoch), await listStates());
  }
  expect(endings.slice(-4)).toEqual([
    2,
    { composed: "PENDING", upload: "PENDING" },
    2,
    { composed: "UNCERTAIN", upload: "FAILED" },
  ]);
  expect([await findState(sql, "upload"), await findState(sql, "composed")]).toMatchObject([
    { reason: "the message could not be prepared" },
    { reason: "the platform gave no answer" },
  ]);
});

test("an interrupted upload that was composed later, and not sent, expires as unsent", async () => {
  await put("upload");
  await take();
  const next = await beginTerm(sql);
  await recover(sql, next);
  const taken = await take({}, next);
  await prepare(taken);
  await returnToQueue(sql, taken, { cost: "nothing", uploaded: true });
  await sql`update messaging.message set expires_at = now()`;
  await expire(sql);
  expect(await listStates()).toEqual({ upload: "EXPIRED" });
});

test("a delivered message is not requeued by a send without an answer", async () => {
  await put("message");
  const taken = await take();
  await applyReceipt(sql, firstAccount, taken.id, "DELIVERED");
  await returnToQueue(sql, taken, { cost: "send" });
  await returnToQueue(sql, taken, { cost: "nothing" });
  expect(await listStates()).toEqual({ message: "DELIVERED" });
});

test("the answer to a send changes nothing that a sender sees of a message with a receipt", async () => {
  await put("message");
  const taken = await take();
  await applyReceipt(sql, firstAccount, taken.id, "DELIVERED");
  const before = await findState(sql, "message");
  await markSent(sql, taken);
  expect(await findState(sql, "message")).toEqual(before);
});

test("a send that has not left does not count as an attempt, however often", async () => {
  await put("message");
  for (let send = 0; send < 6; send++) {
    const taken = await take();
    expect(taken.attempts).toBe(1);
    await returnToQueue(sql, taken, { cost: "nothing" });
  }
  await returnToQueue(sql, await take(), { cost: "send" });
  expect(await listStates()).toEqual({ message: "PENDING" });
});

test("a receipt sets DELIVERED or READ in all states except FAILED, EXPIRED and CANCELLED, and READ is final", async () => {
  const receipts = ["DELIVERED", "READ"] as const;
  await sql`
    insert into messaging.message (id, sender, kind, phone, content, state, reason, expires_at)
    select receipt || ' on ' || state, 'api:test', 'text', ${phone}, '{}', state, 'a reason', now()
    from unnest(string_to_array(${states.join()}, ',')) state, unnest(string_to_array(${receipts.join()}, ',')) receipt`;
  for (const receipt of receipts)
    for (const state of states) await applyReceipt(sql, firstAccount, `${receipt} on ${state}`, receipt);
  const ended = { FAILED: "FAILED", EXPIRED: "EXPIRED", CANCELLED: "CANCELLED" } as Readonly<
    Record<string, string>
  >;
  const expected = receipts.flatMap((receipt) =>
    states.map((state) => [`${receipt} on ${state}`, ended[state] ?? (state === "READ" ? state : receipt)]),
  );
  expect(await listStates()).toEqual(Object.fromEntries(expected));
  expect(await findState(sql, "READ on UNCERTAIN")).not.toHaveProperty("reason");
});

test("a message with a receipt counts as sent, even if its send was not recorded", async () => {
  await put("message");
  await returnToQueue(sql, await take(), { cost: "send" });
  await applyReceipt(sql, firstAccount, "message", "DELIVERED");
  const { sentAt } = await loadHistory(sql, number);
  expect(sentAt).toHaveLength(1);
});

test("the end of quiet hours does not advance a message that waits longer", async () => {
  const quiet_hours = { from: "00:00", to: "23:59", time_zone: "UTC" };
  for (const id of ["taken", "later"]) await put(id, { quiet_hours });
  await sql`update messaging.message set not_before = now(), held_until = null where id = 'taken'`;
  await sql`update messaging.message set not_before = now() + interval '3 days', held_until = now() + interval '3 days' where id = 'later'`;
  const taken = await take();
  await deferUntilQuietEnd(sql, { ...taken, quietUntil: new Date(Date.now() + 60_000) });
  const [row] =
    await sql`select not_before > now() + interval '2 days' as waits from messaging.message where id = 'later'`;
  expect(row?.waits).toBe(true);
});

test("an unsent message expires; one that may have left becomes uncertain, five minutes later if it is being sent", async () => {
  await sql`
    insert into messaging.message (id, sender, kind, phone, content, state, attempts, expires_at, account)
    select id, 'api:test', 'text', ${phone}, '{}', state, attempts, now() - late, ${firstAccount}
    from (values
      ('in time', 'PENDING', 0, interval '-1 minute'),
      ('late', 'PENDING', 0, interval '0'),
      ('interrupted', 'PENDING', 1, interval '0'),
      ('tried', 'PENDING', 1, interval '0'),
      ('sending', 'SENDING', 1, interval '4 minutes 30 seconds'),
      ('hanging', 'SENDING', 1, interval '5 minutes'),
      ('sent', 'SENT', 1, interval '1 hour')
    ) row (id, state, attempts, late)`;
  await sql`
    insert into messaging.payload (seq, bytes)
    select seq, '' from messaging.message where id in ('tried', 'hanging')`;
  expect(await expire(sql)).toBe(4);
  expect(await listStates()).toEqual({
    "in time": "PENDING",
    late: "EXPIRED",
    // before its payload was stored, such as an upload
    interrupted: "EXPIRED",
    tried: "UNCERTAIN",
    sending: "SENDING",
    hanging: "UNCERTAIN",
    sent: "SENT",
  });
});

describe("the registration of a number", () => {
  test.each([
    ["notRegistered", undefined, "1 hour"],
    ["registered", "canonical", "7 days"],
  ])("if %s (%s), is looked up again after %s, not before", async (_, registered, age) => {
    let asked = 0;
    let answer = registered;
    const registry = {
      async findAddress() {
        asked += 1;
        return answer;
      },
    };
    const look = async () => [await findAddress(sql, firstAccount, registry, phone), asked];
    const pass = (time: string) =>
      sql`update messaging.number_check set checked_at = checked_at - ${time}::text::interval`;
    expect([await look(), await look()]).toEqual([
      [registered, 1],
      [registered, 1],
    ]);
    answer = registered ? undefined : "another";
    await pass(age);
    await pass("-1 minute");
    expect(await look()).toEqual([registered, 1]);
    await pass("1 minute");
    expect([await look(), await look()]).toEqual([
      [answer, 2],
      [answer, 2],
    ]);
  });
});

test("the history contains the sends and new contacts of an account and a day, oldest first, and the time of its first contact", async () => {
  expect(await loadHistory(sql, number)).toMatchObject({
    number,
    sentAt: [],
    newContactsAt: [],
    firstSentAt: undefined,
  });
  const now = Date.now();
  const hoursAgo = (hours: number) => new Date(now - hours * 3_600_000);
  // neither in the order of acceptance nor in that of the numbers
  for (const [n, hours] of [2, 23, 1, 25, 12].entries()) {
    await put(`M${n}`);
    await sql`update messaging.message set number = ${number}, sent_at = ${hoursAgo(hours)} where id = ${`M${n}`}`;
    await sql`insert into messaging.contact (number, phone, since) values (${number}, ${`62812${n}`}, ${hoursAgo(hours + 0.5)})`;
  }
  await sql`insert into messaging.contact (number, phone, since) values (${number}, '628129', ${hoursAgo(71)})`;
  const replaced = "6281100000009";
  await put("replaced");
  await sql`update messaging.message set number = ${replaced}, sent_at = ${hoursAgo(3)} where id = 'replaced'`;
  for (const hours of [3, 200])
    await sql`
      insert into messaging.contact (number, phone, since)
      values (${replaced}, ${`62813${hours}`}, ${hoursAgo(hours)})`;
  const { sentAt, newContactsAt, firstSentAt = 0 } = await loadHistory(sql, number);
  // by the steady clock, which differs a little from the database's
  const hoursSince = (at: number) => Math.round((10 * (steadyNow() - at)) / 3_600_000) / 10;
  expect([sentAt.map(hoursSince), newContactsAt.map(hoursSince), hoursSince(firstSentAt)]).toEqual([
    [23, 12, 2, 1],
    [23.5, 12.5, 2.5, 1.5],
    71,
  ]);
});
