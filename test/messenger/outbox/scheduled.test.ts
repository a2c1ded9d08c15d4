import { describe, expect, test } from "vitest";
import type { Submission } from "#lib/messaging/submission.ts";
import { listDepths, readQueue } from "#lib/messenger/outbox/depth.ts";
import { digestClaim } from "#lib/messenger/outbox/idempotency.ts";
import { expire } from "#lib/messenger/outbox/lifecycle.ts";
import { markSent } from "#lib/messenger/outbox/receipt.ts";
import { findState } from "#lib/messenger/outbox/state.ts";
import { loadHistory } from "#lib/messenger/send/history.ts";
import { number, putMessage, takeAny } from "../../fleet/outbox-rows.ts";
import { deleteOld } from "../../steps/retention.ts";
import { text } from "../accept/accept-steps.ts";
import { database, epoch, prepare, sql, take, useOutbox } from "./outbox-steps.ts";

useOutbox();

const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
const put = (id: string, minutes: number, more: Partial<Submission> = {}) =>
  putMessage(sql, id, { send_at: inMinutes(minutes), ...more });
/** Lets time pass, as far as waiting messages are concerned. */
const pass = (minutes: number) => sql`
  update messaging.message set accepted_at = accepted_at - ${minutes} * interval '1 minute',
    not_before = not_before - ${minutes} * interval '1 minute',
    held_until = held_until - ${minutes} * interval '1 minute', expires_at = expires_at - ${minutes} * interval '1 minute'`;
const takenId = async () => (await takeAny(sql, epoch))?.id;

describe("a message for later", () => {
  test("is taken when it is due, not before, and expires as long after that as it may wait", async () => {
    await put("A", 60, { expires_in_seconds: 600 });
    expect(await takenId()).toBeUndefined();
    await pass(59);
    expect([await expire(sql), await takenId()]).toEqual([0, undefined]);
    await pass(2);
    expect(await takenId()).toBe("A");
    await put("B", 60, { expires_in_seconds: 600, phone: "6281200000002" });
    for (const [minutes, state] of [
      [69, "PENDING"],
      [2, "EXPIRED"],
    ] as const) {
      await pass(minutes);
      await expire(sql);
      expect((await findState(sql, "B"))?.status).toBe(state);
    }
  });

  test("whose time has passed is sent now, and expires by its acceptance", async () => {
    await put("A", -100 * 24 * 60, { expires_in_seconds: 600 });
    await put("B", -60, { expires_in_seconds: 600, phone: "6281200000002" });
    await pass(9);
    expect(await takenId()).toBe("A");
    await pass(2);
    await expire(sql);
    expect((await findState(sql, "B"))?.status).toBe("EXPIRED");
  });

  test("does not hold back a later message to its number, nor that one it, also for the next leader", async () => {
    await put("scheduled", 60);
    await putMessage(sql, "now");
    expect((await loadHistory(sql, number)).resting).toEqual([]);
    const now = await take();
    expect(now.id).toBe("now");
    await markSent(sql, now);
    await put("later", 120);
    await pass(61);
    expect(await takenId()).toBe("scheduled");
  });

  test("that is due goes before a later one of its class to the same number", async () => {
    await put("scheduled", 60);
    await pass(61);
    await putMessage(sql, "after");
    expect([await takenId(), await takenId()]).toEqual(["scheduled", undefined]);
  });

  test("counts as waiting, but is late only once it is due", async () => {
    await put("A", 60);
    await pass(30);
    expect(await readQueue(sql)).toMatchObject({ pending: 0, oldest_seconds: 0, oldest_urgent_seconds: 0 });
    expect(await listDepths(sql)).toEqual([{ state: "PENDING", count: 1, oldestSeconds: 0 }]);
    await pass(40);
    expect(await readQueue(sql)).toMatchObject({
      pending: 1,
      oldest_urgent_seconds: expect.closeTo(600, -1),
    });
    const [depth] = await listDepths(sql);
    expect(depth?.oldestSeconds).toBeCloseTo(600, -1);
  });
});

test("a message that was sent late is kept as long after that as others, and delays the deletion of none", async () => {
  const day = 24 * 60;
  for (let n = 0; n < 3; n++) {
    await put(`late${n}`, 29 * day, { phone: `628120000000${n}` });
    await putMessage(sql, `now${n}`, { phone: `628120000001${n}` });
  }
  const send = async () => {
    for (let message = await takeAny(sql, epoch); message; message = await takeAny(sql, epoch)) {
      await prepare(message);
      await markSent(sql, message);
    }
  };
  const ageBy = async (days: number) => {
    await pass(days * day);
    await sql`update messaging.payload set composed_at = composed_at - ${days} * interval '1 day'`;
    await deleteOld(database.admin);
    const rows = await sql<{ id: string; payload: boolean }[]>`
      select id, p.seq is not null as payload from messaging.message left join messaging.payload p using (seq) order by id`;
    return rows.filter(({ id }) => id.endsWith("0")).map(({ id, payload }) => [id, payload]);
  };
  await send();
  expect(await ageBy(29.5)).toEqual([
    ["late0", false],
    ["now0", false],
  ]);
  await send();
  expect(await ageBy(6)).toEqual([["late0", true]]);
  expect(await ageBy(2)).toEqual([["late0", false]]);
  expect(await ageBy(23)).toEqual([]);
});

test("a repeated request is the same one only with the same class, time and lifetime", () => {
  const send_at = inMinutes(60);
  const options = { class: "reminder", send_at, expires_in_seconds: 600 };
  const digest = (more: object) => digestClaim("k", text({ ...options, ...more }), undefined).payloadDigest;
  expect(digest({}).equals(digest({}))).toBe(true);
  for (const other of [{ class: "bulk" }, { send_at: inMinutes(61) }, { expires_in_seconds: 601 }])
    expect(digest(other).equals(digest({}))).toBe(false);
});
