import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { describeRejection } from "#lib/channels/codes.ts";
import { type ConsoleState, readConsoleState } from "#lib/console/state.ts";
import { steadyNow } from "#lib/deadline.ts";
import { setPaused } from "#lib/messenger/outbox/depth.ts";
import { reasons } from "#lib/messenger/outbox/message.ts";
import { stopSending } from "#lib/messenger/send/limits.ts";
import { noPace } from "#lib/messenger/send/pace.ts";
import { Pacing } from "#lib/messenger/send/pacing.ts";
import { endBlocked, untilBlocked } from "../fleet/blocked-connections.ts";
import { createMessengerDatabase } from "../fleet/messenger-database.ts";
import { unusedAccount } from "../fleet/unused-account.ts";
import { captureLog } from "./console-browser.ts";

beforeEach(() => void captureLog());

describe("the state of the outbox", () => {
  const own = {
    connection: { kind: "open", since: "2026-01-01T00:00:00Z" },
    leader: true,
    jobs: [],
  } as const;
  const sources = { own, filter: {}, isDatabaseUp: async () => true, explain: async () => new Map() };

  test("contains the queue and the latest fifty messages, with masked numbers and without text", async () => {
    const { sql, connectConsole } = await createMessengerDatabase();
    const reading = connectConsole();
    await sql`
      insert into messaging.message (id, sender, kind, phone, content, expires_at, accepted_at, not_before)
      select 'm' || n, 'api:test', 'text', '628120000' || lpad(n::text, 4, '0'), '{"text":"a secret"}',
        now() + interval '1 day', now() - interval '90 seconds', now() - interval '90 seconds'
      from generate_series(1, 60) n`;
    await sql`update messaging.message set state = 'FAILED', reason = 'because', attempts = 1 where id = 'm60'`;
    await setPaused(sql, true);
    const state = await readConsoleState(reading, sources);
    expect(state).toMatchObject({ ...own, paused: true });
    expect(state.unread).toBeUndefined();
    expect(state.queue).toEqual([{ state: "PENDING", count: 59, oldestSeconds: expect.closeTo(90, -1) }]);
    expect(state.messages.map(({ id }) => id)).toEqual(Array.from({ length: 50 }, (_, n) => `m${60 - n}`));
    expect(state.messages[0]).toEqual({
      id: "m60",
      kind: "text",
      phone: "6281•••••••60",
      state: "FAILED",
      reason: "because",
      code: null,
      channel: "whatsapp",
      sender: "api:test",
      waiting: undefined,
      attempts: 1,
      acceptedAt: expect.any(Date),
      changedAt: expect.any(Date),
    });
    expect(JSON.stringify(state)).not.toContain("secret");
    await setPaused(sql, false);
    expect((await readConsoleState(reading, sources)).paused).toBe(false);
  });

  test("contains how many of the latest messages fail, by code, sender and account, but not those of a number", async () => {
    const { sql, connectConsole } = await createMessengerDatabase();
    const reason = reasons.notRegistered;
    await sql`
      insert into messaging.message (id, sender, kind, phone, content, expires_at, state, reason, rejections, account, changed_at)
      select 'm' || n, 'api:test', 'text', '6281200000001', '{}', now(),
        case when n in (1, 2, 3) or n > 7 then 'FAILED' else 'SENT' end, case when n > 9 then ${reason} when n > 7 then 'x' end,
        case when n in (8, 9) then '{"code": "463", "count": 1}'::jsonb end, (select id from messaging.account),
        now() - case when n < 3 then interval '2 hours' else n * interval '1 minute' end
      from generate_series(1, 12) n`;
    const { failures } = await readConsoleState(connectConsole(), sources);
    expect(failures).toEqual({
      ...{ ended: 7, failed: 3, codes: ["463", "-"], senders: ["api:test"], accounts: ["main"] },
      since: expect.any(Date),
    });
  });

  test("contains who paused sending, while it is paused, but not who paused it before", async () => {
    const { sql, connectConsole } = await createMessengerDatabase();
    const reading = connectConsole();
    const pausedBy = async () => (await readConsoleState(reading, sources)).pausedBy;
    await sql`
      insert into messaging.operator_act (operator, name, role, action, at)
      values ('7', 'Rina', 'operator', 'pause', now() - interval '1 hour')`;
    await setPaused(sql, true);
    expect(await pausedBy()).toBeNull();
    await setPaused(sql, false);
    await sql`insert into messaging.operator_act (operator, name, role, action) values ('8', 'Sari', 'operator', 'pause')`;
    await setPaused(sql, true);
    expect(await pausedBy()).toBe("Sari");
    await setPaused(sql, false);
    expect(await pausedBy()).toBeNull();
  });

  test("contains the code and channel of a message that failed with its first rejection", async () => {
    const { sql, connectConsole } = await createMessengerDatabase();
    const reason = describeRejection("cloud-api", "131056");
    await sql`update messaging.account set channel = 'cloud-api'`;
    await sql`
      insert into messaging.message (id, sender, kind, phone, content, expires_at, state, reason, account)
      select 'm1', 'api:test', 'text', '6281200000001', '{}', now(), 'FAILED', ${reason}, id from messaging.account`;
    const { messages, failures } = await readConsoleState(connectConsole(), sources);
    expect(messages).toMatchObject([{ id: "m1", code: "131056", channel: "cloud-api" }]);
    expect(failures?.codes).toEqual(["131056"]);
  });

  test("contains codes that expire among those that fail, but not reminders that do", async () => {
    const { sql, connectConsole } = await createMessengerDatabase();
    await sql`
      insert into messaging.message (id, sender, kind, phone, content, expires_at, state, priority)
      select 'm' || n, 'api:test', 'text', '6281200000001', '{}', now(), 'EXPIRED', n from generate_series(0, 3) n`;
    const { failures } = await readConsoleState(connectConsole(), sources);
    expect(failures).toMatchObject({ ended: 2, failed: 2 });
  });

  test("contains how many fail while hundreds that were accepted later wait, or were cancelled", async () => {
    const { sql, connectConsole } = await createMessengerDatabase();
    await sql`
      insert into messaging.message (id, sender, kind, phone, content, expires_at, state, priority)
      select 'm' || n, 'notification', 'text', '6281200000001', '{}', now() + interval '1 day',
        case when n <= 12 then 'FAILED' when n % 2 = 0 then 'CANCELLED' else 'PENDING' end, 3
      from generate_series(1, 700) n`;
    const { failures } = await readConsoleState(connectConsole(), sources);
    expect(failures).toMatchObject({ ended: 10, failed: 10 });
  });

  test("contains the latest ten runs that had recipients or failed, with their messages by state", async () => {
    const { connectConsole, admin } = await createMessengerDatabase();
    await admin`
      insert into notification.run (job, scheduled_at, state, reason, accepted, opted_out)
      select 'daily', now() - n * interval '1 hour', case n when 2 then 'failed' else 'done' end,
        case n when 2 then 'because' end, case when n in (1, 2) then 0 else 3 end, 0
      from generate_series(1, 14) n`;
    await admin`
      insert into messaging.message (id, sender, kind, phone, content, expires_at, state, run)
      select 'm' || n, 'api:test', 'text', '6281200000001', '{}', now(), case n when 1 then 'PENDING' else 'SENT' end,
        (select id from notification.run order by scheduled_at desc offset 2 limit 1)
      from generate_series(1, 3) n`;
    const { runs } = await readConsoleState(connectConsole(), sources);
    expect(runs.map(({ state, reason, accepted }) => [state, reason, accepted]).slice(0, 2)).toEqual([
      ["failed", "because", 0],
      ["done", null, 3],
    ]);
    expect(runs).toHaveLength(10);
    expect(runs.map(({ messages }) => messages).slice(0, 3)).toEqual([{}, { PENDING: 1, SENT: 2 }, {}]);
  });

  test("contains a bulk run before all others while its messages wait, and not among the jobs that fail", async () => {
    const { connectConsole, admin } = await createMessengerDatabase();
    await admin`
      insert into notification.run (job, template, scheduled_at, state, accepted)
      values ('bulk:march', 'reminder', now() - interval '9 days', 'failed', 1),
        ('bulk:april', 'reminder', now() - interval '8 days', 'done', 1)`;
    await admin`
      insert into notification.run (job, scheduled_at, state, accepted)
      select 'other', now() - n * interval '1 minute', 'done', 1 from generate_series(1, 20) n`;
    await admin`
      insert into messaging.message (id, sender, kind, phone, content, expires_at, run)
      select 'm', 'notification', 'text', '6281200000001', '{}', now() + interval '1 day', id
      from notification.run where job = 'bulk:march'`;
    const { runs, failedJobs } = await readConsoleState(connectConsole(), sources);
    expect(runs.map(({ bulk }) => bulk)).toEqual(["march", ...Array(9).fill(null)]);
    expect(runs[0]?.messages).toEqual({ PENDING: 1 });
    expect(failedJobs).toEqual([]);
  });

  test("contains the jobs that fail, once each, until they succeed, however many runs of others follow", async () => {
    const { connectConsole, admin } = await createMessengerDatabase();
    await admin`
      insert into notification.run (job, scheduled_at, state, reason, accepted)
      select job, now() - hours * interval '1 hour', state, reason, 1
      from (values ('mends', 50, 'failed', 'x'), ('mends', 49, 'done', null), ('fails', 48, 'done', null),
        ('fails', 47, 'failed', 'first'), ('fails', 46, 'failed', 'last')) given (job, hours, state, reason)`;
    await admin`
      insert into notification.run (job, scheduled_at, state, accepted)
      select 'other', now() - n * interval '1 minute', 'done', 1 from generate_series(1, 20) n`;
    const { failedJobs } = await readConsoleState(connectConsole(), sources);
    expect(failedJobs).toMatchObject([{ job: "fails", reason: "last" }]);
    expect(failedJobs.map(({ scheduledAt, since }) => scheduledAt.getTime() - since.getTime())).toEqual([
      3_600_000,
    ]);
  });

  test("contains what each sender may send and has sent today, and its active credentials", async () => {
    const { connectConsole, admin } = await createMessengerDatabase();
    await admin`
      insert into messaging.sender (name, classes, per_day, bytes_per_day)
      values ('ends', '{reminder}', 50, 2000000), ('expired', default, null, null), ('stays', default, null, null)`;
    await admin`
      insert into messaging.sender_credential (id, sender, digest, expires_at, retires_at, revoked_at)
      select sender || n, sender, sha256((sender || n)::bytea), now() + expires * interval '1 day',
        now() + retires * interval '1 day', now() + revoked * interval '1 day'
      from (values ('ends', 1, 40, null, null), ('ends', 2, 90, 2, null), ('ends', 3, 99, null, -1), ('expired', 4, -1, null, null),
        ('expired', 5, null, -1, null), ('stays', 6, null, null, null), ('stays', 7, 9, null, null))
        given (sender, n, expires, retires, revoked)`;
    await admin`
      insert into messaging.sender_day (sender, day, slot, messages, bytes)
      values ('api:ends', messaging.today(), 1, 3, 700), ('api:ends', messaging.today(), 2, 4, 100),
        ('api:ends', messaging.today() - 1, 1, 9, 900), ('api:of-the-secret', messaging.today(), 1, 1, 5)`;
    const { terms } = await readConsoleState(connectConsole(), sources);
    const none = { credentials: 0, expiresAt: null };
    expect(terms).toMatchObject([
      {
        sender: "ends",
        classes: ["reminder"],
        perDay: 50,
        bytesPerDay: 2_000_000,
        messagesToday: 7,
        bytesToday: 800,
      },
      { sender: "expired", ...none, messagesToday: 0 },
      { sender: "of-the-secret", ...none, perDay: null, bytesPerDay: null, messagesToday: 1, bytesToday: 5 },
      { sender: "stays", credentials: 2, expiresAt: null },
    ]);
    expect(terms[0]?.credentials).toBe(2);
    const days = ((terms[0]?.expiresAt?.getTime() ?? 0) - Date.now()) / 86_400_000;
    expect(days).toBeCloseTo(40, 1);
  });

  test("contains what waits for each callback, with its host alone", async () => {
    const { connectConsole, admin } = await createMessengerDatabase();
    await admin`
      insert into messaging.callback (sender, url, secret, failures)
      values ('api:a', 'https://a.example/path?token=hidden', '', 4), ('api:b', 'https://b.example/', '', 0),
        ('api:b', 'https://c.example/', '', 0)`;
    await admin`
      insert into messaging.callback_event (callback_id, message_id, state, accepted_at, at, attempts, due_at, given_up_at, last_status)
      select callback.id, 'm', 'SENT', now(), now() - age * interval '1 minute', attempts, now() + due * interval '1 minute',
        given_up_at, last_status
      from messaging.callback join (values
        ('https://a.example/path?token=hidden', 30, 2, -5, null::timestamptz, 500), ('https://a.example/path?token=hidden', 20, 1, -2, null, 503),
        ('https://a.example/path?token=hidden', 10, 0, -1, null, null), ('https://a.example/path?token=hidden', 90, 9, -60, now(), 404),
        ('https://b.example/', 1, 1, 1, null, null)) given (url, age, attempts, due, given_up_at, last_status) using (url)`;
    const { callbacks } = await readConsoleState(connectConsole(), sources);
    expect(callbacks).toMatchObject([
      { sender: "a", host: "a.example", failures: 4, lastStatus: 503, waiting: 3, undelivered: 1 },
      { sender: "b", host: "b.example", failures: 0, lastStatus: null, waiting: 1, undelivered: 0 },
      { sender: "b", host: "c.example", lastStatus: null, waiting: 0, oldest: null, undelivered: 0 },
    ]);
    expect((Date.now() - (callbacks[0]?.oldest?.getTime() ?? 0)) / 60_000).toBeCloseTo(30, 0);
    expect(JSON.stringify(callbacks)).not.toContain("hidden");
  });

  test("contains when the platform's limits of the linked account began", async () => {
    const { connectConsole, sql } = await createMessengerDatabase();
    const number = "6281200000099";
    const pacing = new Pacing(noPace, { ...unusedAccount, number });
    const channel = { isOpen: () => true, fetchLimits: async () => ({}) };
    const { signal } = new AbortController();
    await stopSending({ sql, channel, pacing, signal }, 600);
    const [first] = await sql`select stopped_at as at from messaging.number`;
    await stopSending({ sql, channel, pacing, signal }, 1_200);
    const state = await readConsoleState(connectConsole(), { ...sources, number });
    expect(state.stoppedSince).toEqual(first?.at);
    expect(pacing.describe(steadyNow()).stoppedSeconds).toBeGreaterThan(600);
  });

  test("masks the shortest number too", async () => {
    const { sql, connectConsole } = await createMessengerDatabase();
    await sql`
      insert into messaging.message (id, sender, kind, phone, content, expires_at)
      values ('m', 'api:test', 'text', '62812345', '{}', now() + interval '1 day')`;
    expect((await readConsoleState(connectConsole(), sources)).messages[0]?.phone).toBe("6281••45");
  });

  test("is unknown while the database is unavailable, or slow although it answers others", async () => {
    const { connectConsole, admin } = await createMessengerDatabase();
    const down = connectConsole();
    await down.end();
    const unknown = { ...own, paused: false, messages: [] };
    expect(await readConsoleState(down, { ...sources, isDatabaseUp: async () => false })).toMatchObject({
      ...unknown,
      unread: "unavailable",
    });
    const waiting = connectConsole(2);
    await waiting`select 1`;
    await admin.begin(async (transaction) => {
      await transaction`lock table messaging.message in access exclusive mode`;
      expect(await readConsoleState(waiting, sources)).toMatchObject({ ...unknown, unread: "slow" });
      await untilBlocked(connectConsole(), 0);
    });
    await expect.poll(() => readConsoleState(waiting, sources)).not.toHaveProperty("unread");
  });

  test("is read again after a read that lost its connection, as in a failover", async () => {
    const { connectConsole, admin } = await createMessengerDatabase();
    let reading: Promise<ConsoleState> | undefined;
    await admin.begin(async (transaction) => {
      await transaction`lock table messaging.message in access exclusive mode`;
      reading = readConsoleState(connectConsole(), sources);
      await endBlocked(connectConsole());
    });
    expect(await reading).not.toHaveProperty("unread");
  });

  test("is unknown while the database, although it answers others, loses the connection again or has no connection left", async () => {
    const { connectConsole, admin, sql } = await createMessengerDatabase();
    const lost = connectConsole();
    await lost.end();
    expect(await readConsoleState(lost, sources)).toMatchObject({ ...own, unread: "unavailable" });
    const [row] = await sql`select current_database() as name`;
    const limit = (connections: number) =>
      admin.unsafe(`alter database ${row?.name} connection limit ${connections}`);
    await limit(0);
    onTestFinished(async () => void (await limit(-1)));
    expect(await readConsoleState(connectConsole(), sources)).toMatchObject({ ...own, unread: "slow" });
  });

  test("is an error while the database rejects a query", async () => {
    const { connectConsole, admin } = await createMessengerDatabase();
    await admin`revoke select on notification.run from municipal_console`;
    onTestFinished(async () => void (await admin`grant select on notification.run to municipal_console`));
    await expect(readConsoleState(connectConsole(), sources)).rejects.toMatchObject({ code: "42501" });
  });
});
