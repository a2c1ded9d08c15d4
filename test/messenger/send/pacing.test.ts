import { expect, test } from "vitest";
import { carefulPace, noPace, Pacing } from "#lib/messenger/send/pacing.ts";

const none = { sentAt: [], newContactsAt: [], daysOfUse: 100 };
const start = 1_000_000_000;
const midway = () => 0.5;

/** When `count` messages go, one to each number, as soon as each may. */
const sendTimes = (pacing: Pacing, count: number): number[] => {
  const times: number[] = [];
  let now = start;
  for (let i = 0; i < count; i++) {
    now = Math.max(now, pacing.nextAt());
    pacing.note(`62${i}`, false, now);
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
  pacing.note("62", false, start);
  expect(pacing.nextAt() - start).toBe(gapMs);
});

test("leaves gaps twice as long after a new connection", () => {
  const pacing = new Pacing(carefulPace, none, midway);
  pacing.ramp(start);
  pacing.note("62", false, start);
  expect(pacing.nextAt() - start).toBe(11_000);
  pacing.note("62", false, start + 61_000);
  expect(pacing.nextAt() - start - 61_000).toBe(5_500);
});

test("lets a number rest for six seconds", () => {
  const pacing = new Pacing(carefulPace, none, midway);
  pacing.note("62", false, start);
  expect([pacing.resting(start + 5_999), pacing.resting(start + 6_000)]).toEqual([["62"], []]);
});

test("lets a number rest until the later of two times, whichever was said first", () => {
  const pacing = new Pacing(carefulPace, none, midway);
  pacing.rest("62", start + 60_000);
  pacing.note("62", false, start);
  expect([pacing.resting(start + 59_999), pacing.resting(start + 60_000)]).toEqual([["62"], []]);
});

test("does not end a pause of new contacts by a shorter one", () => {
  const pacing = new Pacing(carefulPace, none, midway);
  pacing.pauseNewContacts(start + 60_000);
  pacing.pauseNewContacts(start + 1_000);
  expect([pacing.allowsNewContacts(start + 59_999), pacing.allowsNewContacts(start + 60_000)]).toEqual([
    false,
    true,
  ]);
});

test("counts what was sent before it began", () => {
  const sentAt = Array.from({ length: 8 }, (_, i) => start - 30_000 + i);
  expect(new Pacing(carefulPace, { ...none, sentAt }).nextAt()).toBe(start + 30_000);
});

test("lets a fresh number send little on its first days", () => {
  const times = sendTimes(new Pacing(carefulPace, { ...none, daysOfUse: 0 }, midway), 21);
  expect((times[20] ?? 0) - (times[0] ?? 0)).toBe(86_400_000);
});

test("holds new contacts back when the platform says so, or their budget is used up", () => {
  const pacing = new Pacing({ ...carefulPace, newContactsPerDay: 2 }, none, midway);
  expect(pacing.allowsNewContacts(start)).toBe(true);
  pacing.pauseNewContacts(start + 1_000);
  expect([pacing.allowsNewContacts(start), pacing.allowsNewContacts(start + 1_000)]).toEqual([false, true]);
  pacing.note("621", true, start);
  pacing.note("622", true, start);
  expect(pacing.allowsNewContacts(start + 3_600_000)).toBe(false);
  expect(pacing.allowsNewContacts(start + 86_400_000)).toBe(true);
});

test("counts a new contact for a whole day, whatever is sent meanwhile and whoever wrote to it", () => {
  const hourMs = 3_600_000;
  const history = { ...none, newContactsAt: [start - 12 * hourMs] };
  const pacing = new Pacing({ ...carefulPace, newContactsPerDay: 2 }, history, midway);
  expect(pacing.allowsNewContacts(start)).toBe(true);
  pacing.note("621", true, start);
  for (let hour = 1; hour < 12; hour++) {
    pacing.note("622", false, start + hour * hourMs);
    expect(pacing.allowsNewContacts(start + hour * hourMs)).toBe(false);
  }
  expect(pacing.allowsNewContacts(start + 12 * hourMs)).toBe(true);
  pacing.note("623", true, start + 12 * hourMs);
  expect(pacing.allowsNewContacts(start + 24 * hourMs - 1)).toBe(false);
  expect(pacing.allowsNewContacts(start + 24 * hourMs)).toBe(true);
});

test("does not hold anything back when it is off", () => {
  const times = sendTimes(new Pacing(noPace, none), 1_000);
  expect(new Set(times).size).toBe(1);
});
