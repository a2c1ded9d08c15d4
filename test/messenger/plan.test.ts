import { describe, expect, test } from "vitest";
import type { History } from "#lib/messenger/send/history.ts";
import { carefulPace } from "#lib/messenger/send/pace.ts";
import { Calendar, planMessages } from "#lib/messenger/send/plan.ts";
import { database, sql, stageEachTest, start, submit } from "../fleet/running-task.ts";
import { unusedAccount } from "../fleet/unused-account.ts";

const now = 1_000_000_000;
const dayMs = 86_400_000;
const history: History = { ...unusedAccount, firstSentAt: now - 100 * dayMs };
const countDays = (days: readonly number[]) =>
  Object.fromEntries([...new Set(days)].map((day) => [day, days.filter((other) => other === day).length]));
const forecast = (areNew: readonly boolean[], more: Partial<History> = {}) => {
  const calendar = new Calendar(carefulPace, { ...history, ...more }, now);
  return areNew.map((isNew) => calendar.take(isNew));
};
const of = (count: number, isNew: boolean) => Array<boolean>(count).fill(isNew);

describe("a bulk run is forecast", () => {
  test("by the daily budget", () =>
    expect(countDays(forecast(of(3_100, false)))).toEqual({ 0: 1_500, 1: 1_500, 2: 100 }));

  test("by the budget for new contacts, which known contacts do not wait for", () => {
    const days = forecast([...of(500, true), ...of(100, false)]);
    expect(countDays(days.slice(0, 500))).toEqual({ 0: 200, 1: 200, 2: 100 });
    expect(countDays(days.slice(500))).toEqual({ 0: 100 });
  });

  test("by the warm-up of a new account", () =>
    expect(countDays(forecast(of(140, false), unusedAccount))).toEqual({ 0: 20, 1: 40, 2: 80 }));

  test("less what was sent in the last 24 hours", () => {
    const sent = (count: number) => Array<number>(count).fill(now - 1_000);
    expect(countDays(forecast(of(200, false), { sentAt: sent(1_400) }))).toEqual({ 0: 100, 1: 100 });
    expect(countDays(forecast(of(200, true), { newContactsAt: sent(150) }))).toEqual({ 0: 50, 1: 150 });
  });

  test("by the platform's cap on new contacts, whose last quarter is spread over its cycle", () => {
    const cap = { total: 100, used: 0, endsAt: now + 10 * dayMs };
    const days = countDays(forecast(of(150, true), { cap }));
    expect([days[0], days[1], days[10]]).toEqual([77, 3, 50]);
  });

  test("after the end of the platform's limit", () =>
    expect(countDays(forecast(of(10, true), { lockedUntil: now + 3.5 * dayMs }))).toEqual({ 3: 10 }));

  test("as later than a year where that is so", () =>
    expect(forecast(of(1, true), { lockedUntil: now + 400 * dayMs })).toEqual([366]));
});

describe("the messages of a file", () => {
  stageEachTest();
  const phones = Array.from({ length: 100 }, (_, n) => `62811${1_000_000 + n}`);

  test("come after those that wait", async () => {
    const task = await start(carefulPace);
    for (const n of [1, 2, 3]) await submit(task, { phone: `628125550${n}00` });
    expect(countDays(await planMessages(sql, carefulPace, phones))).toEqual({ 0: 17, 1: 40, 2: 43 });
  });

  test("to known contacts, as the account's history says, do not wait for the budget of new ones", async () => {
    await sql`
      insert into messaging.message (id, sender, kind, phone, content, expires_at, state, sent_at, number)
      values ('m', 'api:test', 'text', '6281200000001', '{}', now(), 'SENT', now() - interval '2 days', '6289')`;
    await sql`
      insert into messaging.contact select '6289', '62811' || 1000000 + n, now() - interval '30 days'
      from generate_series(0, 49) n`;
    const days = await planMessages(sql, { ...carefulPace, newContactsPerDay: 10, warmUp: [] }, phones);
    expect(countDays(days.slice(0, 50))).toEqual({ 0: 50 });
    expect(countDays(days.slice(50))).toEqual({ 0: 10, 1: 10, 2: 10, 3: 10, 4: 10 });
  });

  test("to new contacts are shared between accounts, but for one that may not write to them for longer", async () => {
    await sql`update messaging.account set number = '6281'`;
    await sql`insert into messaging.account (name, number) values ('second', '6282'), ('third', '6283')`;
    await database.admin`
      insert into messaging.number (phone, locked_until) values ('6283', now() + interval '60 days')`;
    const days = await planMessages(sql, { ...carefulPace, newContactsPerDay: 10, warmUp: [] }, phones);
    expect(countDays(days)).toEqual({ 0: 20, 1: 20, 2: 20, 3: 20, 4: 20 });
  });
});
