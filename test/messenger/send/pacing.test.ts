import { describe, expect, test } from "vitest";
import { carefulPace, noPace } from "#lib/messenger/send/pace.ts";
import { Pacing } from "#lib/messenger/send/pacing.ts";
import { number } from "../../fleet/outbox-rows.ts";
import { unusedAccount } from "../../fleet/unused-account.ts";

const allows = (pacing: Pacing, now: number) => pacing.newContactsUpTo(now) === 3;
const start = 1_000_000_000;
const none = { ...unusedAccount, firstSentAt: start - 100 * 86_400_000 };
const midway = () => 0.5;

/** The times of `count` sends to different numbers, each as early as allowed. */
const sendTimes = (pacing: Pacing, count: number): number[] => {
  const times: number[] = [];
  let now = start;
  for (let i = 0; i < count; i++) {
    now = Math.max(now, pacing.nextAt(now));
    pacing.recordSend(`62${i}`, false, now);
    times.push(now);
  }
  return times;
};
const most = (times: readonly number[], windowMs: number) =>
  Math.max(...times.map((time) => times.filter((other) => other >= time && other < time + windowMs).length));

test("never sends more in a minute, an hour or a day than the pace allows", () => {
  const times = sendTimes(new Pacing(carefulPace, none, () => 0), 2_000);
  expect(most(times, 60_000)).toBe(8);
  expect(most(times, 3_600_000)).toBe(200);
  expect(most(times, 86_400_000)).toBe(1_500);
});

test.each([
  [0, 3_000],
  [0.5, 5_500],
  [1, 8_000],
])("leaves gaps of three to eight seconds at random: at %d, %d ms", (random, gapMs) => {
  const pacing = new Pacing(carefulPace, none, () => random);
  pacing.recordSend("62", false, start);
  expect(pacing.nextAt(start) - start).toBe(gapMs);
});

test("leaves gaps twice as long after a new connection", () => {
  const pacing = new Pacing(carefulPace, none, midway);
  pacing.startRamp(start);
  pacing.recordSend("62", false, start);
  expect(pacing.nextAt(start) - start).toBe(11_000);
  pacing.recordSend("62", false, start + 61_000);
  expect(pacing.nextAt(start + 61_000) - start - 61_000).toBe(5_500);
});

test("sends nothing to the same number for six seconds", () => {
  const pacing = new Pacing(carefulPace, none, midway);
  pacing.recordSend("62", false, start);
  expect([pacing.coolingDown(start + 5_999), pacing.coolingDown(start + 6_000)]).toEqual([["62"], []]);
});

test("a number cools down until the later of two times, in any order", () => {
  const pacing = new Pacing(carefulPace, none, midway);
  pacing.coolDown("62", start + 60_000);
  pacing.recordSend("62", false, start);
  expect([pacing.coolingDown(start + 59_999), pacing.coolingDown(start + 60_000)]).toEqual([["62"], []]);
});

test("a shorter pause of new contacts does not end a longer one", () => {
  const pacing = new Pacing(carefulPace, none, midway);
  pacing.pauseNewContacts(start + 60_000);
  pacing.pauseNewContacts(start + 1_000);
  expect([allows(pacing, start + 59_999), allows(pacing, start + 60_000)]).toEqual([false, true]);
});

test("counts earlier sends", () => {
  const sentAt = Array.from({ length: 8 }, (_, i) => start - 30_000 + i);
  expect(new Pacing(carefulPace, { ...none, sentAt }).nextAt(start)).toBe(start + 30_000);
});

test("limits a new account on its first days", () => {
  const times = sendTimes(new Pacing(carefulPace, unusedAccount, midway), 21);
  expect((times[20] ?? 0) - (times[0] ?? 0)).toBe(86_400_000);
});

test("the limit of a new account grows from day to day while the same task leads", () => {
  const times = sendTimes(new Pacing(carefulPace, unusedAccount, midway), 200);
  expect([1, 2, 3].map((day) => times.filter((time) => time < start + day * 86_400_000).length)).toEqual([
    20, 60, 140,
  ]);
});

test("holds back new contacts while they are paused or their limit is reached", () => {
  const pacing = new Pacing({ ...carefulPace, newContactsPerDay: 2 }, none, midway);
  expect(allows(pacing, start)).toBe(true);
  pacing.pauseNewContacts(start + 1_000);
  expect([allows(pacing, start), allows(pacing, start + 1_000)]).toEqual([false, true]);
  pacing.recordSend("621", true, start);
  pacing.recordSend("622", true, start);
  expect(allows(pacing, start + 3_600_000)).toBe(false);
  expect(allows(pacing, start + 86_400_000)).toBe(true);
});

test("counts a new contact for a whole day, whatever is sent meanwhile, earlier leaders' included", () => {
  const hourMs = 3_600_000;
  const history = { ...none, newContactsAt: [start - 12 * hourMs] };
  const pacing = new Pacing({ ...carefulPace, newContactsPerDay: 2 }, history, midway);
  expect(allows(pacing, start)).toBe(true);
  pacing.recordSend("621", true, start);
  for (let hour = 1; hour < 12; hour++) {
    pacing.recordSend("622", false, start + hour * hourMs);
    expect(allows(pacing, start + hour * hourMs)).toBe(false);
  }
  expect(allows(pacing, start + 12 * hourMs)).toBe(true);
  pacing.recordSend("623", true, start + 12 * hourMs);
  expect(allows(pacing, start + 24 * hourMs - 1)).toBe(false);
  expect(allows(pacing, start + 24 * hourMs)).toBe(true);
});

test("holds back nothing when it is off", () => {
  const times = sendTimes(new Pacing(noPace, none), 1_000);
  expect(new Set(times).size).toBe(1);
});

describe("near the platform's cap", () => {
  const dayMs = 86_400_000;
  const cap = { total: 100, used: 75, endsAt: start + 25 * dayMs };
  const capped = (used: number) => new Pacing(noPace, { ...none, cap: { ...cap, used } }, midway);

  test("what is left is spread over the rest of the cycle, except for urgent messages", () => {
    const pacing = capped(75);
    pacing.recordSend("621", true, start);
    // 24 are left for 25 days
    const gapMs = (25 * dayMs) / 24;
    expect([start, start + gapMs - 60_000, start + gapMs].map((at) => pacing.newContactsUpTo(at))).toEqual([
      1, 1, 3,
    ]);
  });

  test("new contacts are not slowed down before three quarters of it are used", () => {
    const pacing = capped(73);
    pacing.recordSend("621", true, start);
    expect(pacing.newContactsUpTo(start)).toBe(3);
    pacing.recordSend("622", true, start);
    expect(pacing.newContactsUpTo(start)).toBe(1);
  });

  test("no new contact is written to at its end, until the next cycle", () => {
    const pacing = capped(99);
    pacing.recordSend("621", true, start);
    expect([start, cap.endsAt - 1, cap.endsAt].map((at) => pacing.newContactsUpTo(at))).toEqual([-1, -1, 3]);
    expect([pacing.isLimited(start), pacing.isLimited(cap.endsAt)]).toEqual([true, false]);
  });
});

test("new contacts that have no answer yet count for the platform's cap", () => {
  const cap = { total: 100, used: 98, endsAt: start + 86_400_000 };
  const pacing = new Pacing(noPace, { ...none, cap }, midway);
  const sending = { number, phone: "621", isNewContact: true, priority: 0 };
  expect(pacing.admit(sending, start)).toBeDefined();
  expect(pacing.newContactsUpTo(start)).toBe(1);
  expect(pacing.admit({ ...sending, phone: "622" }, start)).toBeDefined();
  expect([pacing.newContactsUpTo(start), pacing.admit({ ...sending, phone: "623" }, start)]).toEqual([
    -1,
    undefined,
  ]);
});

test("a message that was taken for another account is not admitted", () => {
  const pacing = new Pacing(noPace, none, midway);
  const sending = { number: "6281100000002", phone: "621", isNewContact: false, priority: 0 };
  expect(pacing.admit(sending, start)).toBeUndefined();
  expect(pacing.admit({ ...sending, number }, start)).toBeDefined();
});

test("nothing may be sent before the account is known, and another account has its own limits", () => {
  const pacing = new Pacing({ ...noPace, perDay: 1 }, undefined, midway);
  expect([pacing.number, pacing.nextAt(start)]).toEqual([undefined, Number.POSITIVE_INFINITY]);
  pacing.begin({ ...none, sentAt: [start], lockedUntil: start + 60_000 });
  expect([pacing.nextAt(start), pacing.newContactsUpTo(start)]).toEqual([start + 86_400_000, -1]);
  pacing.end();
  expect(pacing.nextAt(start)).toBe(Number.POSITIVE_INFINITY);
  pacing.begin({ ...none, number: "6281100000002" });
  expect([pacing.number, pacing.nextAt(start), pacing.newContactsUpTo(start)]).toEqual([
    "6281100000002",
    0,
    3,
  ]);
});

test("waits twice as long after each temporary rejection, up to a limit", () => {
  const pacing = new Pacing(carefulPace, none);
  expect([0, 1, 2, 6, 7, 11].map((before) => pacing.retryAfterMs(before) / 1_000)).toEqual([
    10, 20, 40, 640, 900, 900,
  ]);
});
