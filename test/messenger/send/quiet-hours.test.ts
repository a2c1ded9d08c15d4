import type postgres from "postgres";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { Submission } from "#lib/messaging/submission.ts";
import { type QuietHours, QuietHours as Schema } from "#lib/messaging/times.ts";
import { firstAccount } from "#lib/messenger/account/account.ts";
import { expire } from "#lib/messenger/outbox/lifecycle.ts";
import { releaseDue } from "#lib/messenger/outbox/next.ts";
import { findState } from "#lib/messenger/outbox/state.ts";
import { Wakeup } from "#lib/messenger/outbox/wakeup.ts";
import { noPace } from "#lib/messenger/send/pace.ts";
import { Pacing } from "#lib/messenger/send/pacing.ts";
import { runSender } from "#lib/messenger/send/sender.ts";
import { createMessengerDatabase } from "../../fleet/messenger-database.ts";
import { failNextWrite } from "../../fleet/next-write.ts";
import { beginTerm, putMessage } from "../../fleet/outbox-rows.ts";
import { unusedAccount } from "../../fleet/unused-account.ts";

vi.stubEnv("LOG_LEVEL", "error");

let sql: postgres.Sql;
let admin: postgres.Sql;
let sent: string[];
beforeEach(async () => {
  const database = await createMessengerDatabase();
  [sql, admin] = [database.connect(4), database.admin];
  sent = [];
});

/** Quiet hours around the current time, in whole minutes of UTC. */
const around = (beforeMinutes: number, afterMinutes: number): QuietHours => {
  const clock = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16);
  return { from: clock(-beforeMinutes), to: clock(afterMinutes), time_zone: "UTC" };
};

const put = (id: string, more: Partial<Submission> = {}) => putMessage(sql, id, more);

/** Starts a sender with a platform that accepts everything. */
const lead = async () => {
  const epoch = await beginTerm(sql);
  const end = new AbortController();
  const done = runSender({
    sql,
    account: firstAccount,
    epoch,
    wakeup: new Wakeup(),
    signal: end.signal,
    pacing: new Pacing(noPace, unusedAccount),
    channel: {
      isOpen: () => true,
      name: "sms",
      canRepeat: true,
      compose: async ({ id }) => Buffer.from(id),
      async send(_, { id }) {
        sent.push(id);
        return { outcome: "acked" };
      },
    },
    encrypt: (_, payload) => payload,
    decrypt: (_, payload) => payload,
    openText: (_, sealed) => sealed,
    isOptedOut: async () => false,
  });
  onTestFinished(async () => {
    end.abort();
    await done;
  });
};

const becomes = (id: string, status: string) =>
  expect.poll(async () => (await findState(sql, id))?.status).toBe(status);

const waitsUntil = async (id: string) => {
  const [row] = await sql<{ notBefore: Date }[]>`
    select not_before as "notBefore" from messaging.message where id = ${id} and held_until = not_before`;
  return row?.notBefore.getTime() ?? 0;
};

/** Simulates passing time by moving the stored times back. */
const pass = async (minutes: number) => {
  const by = `-${minutes} minutes`;
  await sql`
    update messaging.message set not_before = not_before + ${by}::text::interval,
      held_until = held_until + ${by}::text::interval, expires_at = expires_at + ${by}::text::interval,
      quiet_hours = jsonb_build_object('time_zone', quiet_hours ->> 'time_zone',
        'from', to_char((quiet_hours ->> 'from')::time + ${by}::text::interval, 'HH24:MI'),
        'to', to_char((quiet_hours ->> 'to')::time + ${by}::text::interval, 'HH24:MI'))
    where quiet_hours is not null`;
  await releaseDue(sql);
};

const nextOf = (time: string) => {
  const [hours = 0, minutes = 0] = time.split(":").map(Number);
  const next = new Date();
  next.setUTCHours(hours, minutes, 0, 0);
  return next.getTime() < Date.now() ? next.getTime() + 86_400_000 : next.getTime();
};

describe("a message that is due in its quiet hours", () => {
  test("is sent at their end, while a one-time code is sent at once", async () => {
    const quiet = around(60, 60);
    await put("reminder", { class: "reminder", quiet_hours: quiet });
    await put("code", { class: "one-time-code" });
    await lead();
    await becomes("code", "SENT");
    await put("later", { class: "bulk" });
    await becomes("later", "SENT");
    expect(sent).toEqual(["code", "later"]);
    expect(await waitsUntil("reminder")).toBe(nextOf(quiet.to));
    await pass(61);
    await becomes("reminder", "SENT");
  });

  test("waits too if it was accepted before them, and all with the same hours are deferred at once", async () => {
    const quiet = around(60, 60);
    for (const id of ["one", "two", "three"])
      await put(id, { class: "reminder", quiet_hours: around(-60, 120) });
    await sql`update messaging.message set quiet_hours = ${JSON.stringify(quiet)}::text::jsonb`;
    await lead();
    await put("other", { class: "bulk" });
    await becomes("other", "SENT");
    expect(sent).toEqual(["other"]);
    for (const id of ["one", "two", "three"]) expect(await waitsUntil(id)).toBe(nextOf(quiet.to));
    const [row] = await sql`select max(attempts) as most from messaging.message where id <> 'other'`;
    expect(row?.most).toBe(0);
    await pass(61);
    await becomes("three", "SENT");
    expect(sent).toEqual(["other", "one", "two", "three"]);
  });

  test("does not hold back messages to the same number without quiet hours", async () => {
    await put("status", { class: "transactional", quiet_hours: around(60, 60) });
    await sql`update messaging.message set not_before = now(), held_until = null`; // accepted before the hours began
    await lead();
    await expect.poll(() => waitsUntil("status")).toBeGreaterThan(Date.now());
    await put("alert", { class: "transactional" });
    await becomes("alert", "SENT");
    expect(sent).toEqual(["alert"]);
  });

  test("is recovered by the same leader when the database fails before it is deferred", async () => {
    const quiet = around(60, 60);
    await put("status", { quiet_hours: quiet });
    await sql`update messaging.message set not_before = now(), held_until = null`;
    await failNextWrite(admin, { table: "message", when: "new.state = 'PENDING'" });
    await lead();
    await expect.poll(() => waitsUntil("status")).toBe(nextOf(quiet.to));
    await pass(61);
    await becomes("status", "SENT");
    expect(sent).toEqual(["status"]);
  });

  test("is never sent if it expires before their end", async () => {
    await put("late", { class: "reminder", quiet_hours: around(60, 60), expires_in_seconds: 1_800 });
    await lead();
    await pass(61);
    await expire(sql);
    await put("other");
    await becomes("other", "SENT");
    expect([(await findState(sql, "late"))?.status, sent]).toEqual(["EXPIRED", ["other"]]);
  });
});

test("a one-time code overtakes 5,000 reminders in the queue", async () => {
  await sql`
    insert into messaging.message (id, sender, kind, phone, content, priority, expires_at)
    select 'R' || n, 'api:test', 'text', '6281200000001', '{"text":"x"}', 2, now() + interval '1 hour'
    from generate_series(1, 5000) n`;
  await lead();
  await expect.poll(() => sent.length).toBeGreaterThan(3);
  const before = sent.length;
  await put("code", { class: "one-time-code", phone: "6281200000002" });
  const then = sent.length;
  await becomes("code", "SENT");
  // after those sent while it was being stored, and the one in progress
  expect(sent.indexOf("code")).toBeGreaterThanOrEqual(before);
  expect(sent.indexOf("code")).toBeLessThanOrEqual(then + 1);
});

describe("the end of quiet hours", () => {
  test.each([
    ["in Jakarta, in the evening", "20:00-07:00 Asia/Jakarta", "2026-11-21T13:00Z", "2026-11-22T00:00Z"],
    ["in Jakarta, after midnight", "20:00-07:00 Asia/Jakarta", "2026-11-21T23:59:59Z", "2026-11-22T00:00Z"],
    ["in Jakarta, exactly at its end", "20:00-07:00 Asia/Jakarta", "2026-11-22T00:00Z", null],
    ["in Jakarta, a second before", "20:00-07:00 Asia/Jakarta", "2026-11-21T12:59:59Z", null],
    ["within a day", "12:00-13:30 Asia/Jakarta", "2026-11-21T05:00Z", "2026-11-21T06:30Z"],
    ["in Berlin, in winter", "22:00-07:00 Europe/Berlin", "2026-01-10T22:00Z", "2026-01-11T06:00Z"],
    ["in Berlin, in summer", "22:00-07:00 Europe/Berlin", "2026-07-10T20:00Z", "2026-07-11T05:00Z"],
    [
      "in Berlin, in a night one hour shorter",
      "22:00-07:00 Europe/Berlin",
      "2026-03-28T22:00Z",
      "2026-03-29T05:00Z",
    ],
    [
      "in Berlin, in a night one hour longer",
      "22:00-07:00 Europe/Berlin",
      "2026-10-24T21:00Z",
      "2026-10-25T06:00Z",
    ],
    ["at a time that the clock skips", "22:00-02:30 Europe/Berlin", "2026-03-28T23:00Z", "2026-03-29T01:30Z"],
    ["at a time that occurs twice", "22:00-02:30 Europe/Berlin", "2026-10-24T22:00Z", "2026-10-25T01:30Z"],
  ])("%s", async (_, hours, moment, end) => {
    const [, from, to, time_zone] = /^(.{5})-(.{5}) (.+)$/.exec(hours) ?? [];
    const quiet = Schema.parse({ from, to, time_zone });
    const [row] = await sql<{ end: Date | null }[]>`
      select messaging.quiet_until(${JSON.stringify(quiet)}::text::jsonb, ${moment}::text::timestamptz) as end`;
    expect(row?.end ?? null).toEqual(end && new Date(end));
  });

  test.each(["Asia/Nowhere", "+07:00", "WIB", "", "asia/jakarta"])(
    "requires an existing time zone, not %s",
    (time_zone) => {
      expect(Schema.safeParse({ from: "20:00", to: "07:00", time_zone }).success).toBe(false);
    },
  );
});
