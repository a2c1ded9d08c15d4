import type postgres from "postgres";
import { beforeEach, describe, expect, test } from "vitest";
import { listHours } from "#lib/console/panels/chart.ts";
import { listMessages, readFilter } from "#lib/console/panels/messages.ts";
import { steadyNow } from "#lib/deadline.ts";
import { firstAccount } from "#lib/messenger/account/account.ts";
import { setPaused } from "#lib/messenger/outbox/depth.ts";
import { listSenders } from "#lib/messenger/outbox/list.ts";
import type { History } from "#lib/messenger/send/history.ts";
import { carefulPace } from "#lib/messenger/send/pace.ts";
import { Pacing } from "#lib/messenger/send/pacing.ts";
import { explainWaiting } from "#lib/messenger/send/waiting.ts";
import { createMessengerDatabase } from "../../fleet/messenger-database.ts";

let sql: postgres.Sql;
let database: Awaited<ReturnType<typeof createMessengerDatabase>>;
let connect: (max: number) => postgres.Sql;
/** Of the console's role. */
let reading: postgres.Sql;
beforeEach(async () => {
  database = await createMessengerDatabase();
  ({ sql, connect } = database);
  reading = database.connectConsole();
});
const number = "6281200000099";
const known = "6281200000001";
const minuteMs = 60_000;

/** Adds messages to be sent. @param fields of the row instead of the usual ones */
const add = async (...rows: { id: string; phone?: string; sender?: string; priority?: number }[]) => {
  for (const { id, phone = known, sender = "api:a", priority = 1 } of rows)
    await sql`
      insert into messaging.message (id, sender, kind, phone, content, priority, expires_at)
      values (${id}, ${sender}, 'text', ${phone}, '{}', ${priority}, now() + interval '1 day')`;
};
const befriend = () => sql`insert into messaging.contact (number, phone) values (${number}, ${known})`;
/** Knows the first nine numbers. */
const befriendAll = () =>
  sql`insert into messaging.contact (number, phone) select ${number}, 6281200000000 + i from generate_series(1, 9) i`;

const pacingWith = (history: Partial<History> = {}) =>
  new Pacing(carefulPace, {
    ...{ number, sentAt: [], newContactsAt: [], firstSentAt: 0, lockedUntil: 0, pausedUntil: 0 },
    ...{ stoppedUntil: 0, cap: null, resting: [], ...history },
  });
/** Explains one message: its obstacles, each with the minutes until its end. */
const explain = async (id: string, pacing = pacingWith(), isOpen = true) => {
  const directory = {
    ...{ findAddress: async () => undefined, knowsDevices: () => false, refreshRecipient: async () => {} },
    listReachable: () => [known],
  };
  const channel = { isOpen: () => isOpen, directory };
  const found = (await explainWaiting(reading, { account: firstAccount, pacing, channel }, [id])).get(id);
  const minutes = (at: Date | undefined) => at && Math.round((at.getTime() - Date.now()) / minuteMs) + 0;
  return found?.map(({ name, until }) => [name, minutes(until)]);
};
const line = ["line", undefined];

describe("a message waits", () => {
  test("for nothing when it is the next one", async () => {
    await befriend();
    await add({ id: "A" });
    expect(await explain("A")).toEqual([]);
  });

  test("while sending is paused or the messenger is not connected, without an end", async () => {
    await befriend();
    await add({ id: "A" });
    await setPaused(sql, true);
    expect(await explain("A", new Pacing(carefulPace), false)).toEqual([
      ["not-connected", undefined],
      ["paused", undefined],
    ]);
  });

  test("for the end of its quiet hours, and after an attempt for the next one", async () => {
    await befriend();
    await add({ id: "A" }, { id: "B", phone: "6281200000002" });
    await sql`
      update messaging.message set not_before = now() + interval '90 minutes',
        quiet_hours = '{"from":"21:00","to":"07:00","time_zone":"Asia/Jakarta"}' where id = 'A'`;
    await sql`update messaging.message set not_before = now() + interval '5 minutes', epoch = 1 where id = 'B'`;
    expect(await explain("A")).toEqual([["quiet-hours", 90]]);
    expect(await explain("B")).toEqual([["retry", 5]]);
  });

  test("for the time for which it is scheduled", async () => {
    await befriend();
    await add({ id: "A" });
    await sql`update messaging.message set not_before = now() + interval '90 minutes' where id = 'A'`;
    expect(await explain("A")).toEqual([["scheduled", 90]]);
  });

  test("for the end of an outage while the platform does not answer for numbers, unless nothing must be asked for its own", async () => {
    await befriend();
    await add({ id: "A" }, { id: "B", phone: "6281200000002" });
    const pacing = pacingWith();
    pacing.outages.record("directory", steadyNow() + minuteMs);
    expect(await explain("A", pacing)).toEqual([]);
    expect(await explain("B", pacing)).toContainEqual(["directory-outage", 1]);
  });

  test("for earlier messages to its number, and for those that may be taken before it", async () => {
    await befriendAll();
    await add({ id: "A" }, { id: "B" }, { id: "C", sender: "api:b", phone: "6281200000002" });
    expect(await explain("A")).toEqual([]);
    expect(await explain("B")).toEqual([["order", undefined], line]);
    expect(await explain("C")).toEqual([line]);
    await add({ id: "urgent", priority: 0, phone: "6281200000003" });
    expect(await explain("A")).toEqual([line]);
    expect(await explain("urgent")).toEqual([]);
  });

  test("after an attempt in the same line as before it", async () => {
    await befriendAll();
    for (let n = 1; n <= 3; n += 1) await add({ id: `M${n}`, phone: `628120000000${n}` });
    await sql`update messaging.message set not_before = now() + interval '5 minutes', epoch = 1 where id in ('M1', 'M3')`;
    expect(await explain("M1")).toEqual([["retry", 5]]);
    expect(await explain("M2")).toEqual([]);
    expect(await explain("M3")).toEqual([["retry", 5], line]);
  });

  test("as a new contact behind the new contacts before it, which are held back as well", async () => {
    await add({ id: "A", phone: "6281200000002" }, { id: "B", phone: "6281200000003" });
    const locked = pacingWith({ lockedUntil: steadyNow() + 45 * minuteMs });
    expect(await explain("B", locked)).toEqual([line, ["limited", 45]]);
    await befriendAll();
    await database.admin`delete from messaging.contact where phone = '6281200000002'`;
    expect(await explain("B", locked)).toEqual([]);
  });

  test("during an outage of the platform's directory behind those before it, which it holds back as well", async () => {
    await befriendAll();
    await add({ id: "A", phone: "6281200000002" }, { id: "B", phone: "6281200000003" });
    const pacing = pacingWith();
    pacing.outages.record("directory", steadyNow());
    expect(await explain("B", pacing)).toContainEqual(line);
    expect(await explain("A", pacing)).not.toContainEqual(line);
  });

  test("for those before it also where 25,000 wait", async () => {
    await sql`
      insert into messaging.message (id, sender, kind, phone, content, priority, expires_at)
      select 'B' || i, 'api:a', 'text', 62813000000 + i, '{}', 3, now() + interval '1 day' from generate_series(1, 25000) i`;
    await add({ id: "urgent" });
    expect(await explain("urgent")).toEqual([]);
    expect(await explain("B25000")).toEqual([line]);
  });

  test("for its lane, while an upload is under way, which delays no text", async () => {
    await befriend();
    await add({ id: "A" }, { id: "B", phone: "6281200000002" }, { id: "C", phone: "6281200000003" });
    const [media] = await sql`
      insert into messaging.media (sender, content_type) values ('api:a', 'image/png') returning id`;
    await sql`update messaging.message set media_id = ${media?.id ?? 0} where id in ('A', 'B')`;
    await sql`update messaging.message set state = 'SENDING', account = 1 where id = 'A'`;
    expect(await explain("B")).toEqual([["lane", undefined]]);
    expect(await explain("C")).toEqual([line]);
  });

  test("for a service of the platform that it needs and that has failed", async () => {
    const pacing = pacingWith();
    pacing.outages.record("media", steadyNow() + 30 * minuteMs);
    pacing.outages.record("directory", steadyNow() + 50 * minuteMs);
    await add({ id: "A" }, { id: "B", phone: "6281200000002" });
    const [media] = await sql`
      insert into messaging.media (sender, content_type) values ('api:a', 'image/png') returning id`;
    await sql`update messaging.message set media_id = ${media?.id ?? 0} where id = 'A'`;
    await sql`insert into messaging.number_check (account, phone, address) values (1, ${known}, ${`${known}@s.whatsapp.net`})`;
    expect(await explain("A", pacing)).toEqual([["media-outage", 30]]);
    expect(await explain("B", pacing)).toEqual([line, ["directory-outage", 50]]);
  });

  test.each<[string, Partial<History>, [string, number][]]>([
    [
      "the end of the stop that the platform has asked for, however short the pace",
      { stoppedUntil: steadyNow() + 20 * minuteMs },
      [["too-fast", 20]],
    ],
    [
      "the pace: the hour's messages are used up",
      { sentAt: Array.from({ length: 200 }, (_, index) => steadyNow() - 40 * minuteMs + index) },
      [["hour", 20]],
    ],
    [
      "the rest of its number",
      { resting: [{ phone: known, until: steadyNow() + 10 * minuteMs }] },
      [["recipient", 10]],
    ],
  ])("for %s", async (_, history, obstacles) => {
    await befriend();
    await add({ id: "A" });
    expect(await explain("A", pacingWith(history))).toEqual(obstacles);
  });

  test.each<[string, Partial<History>, [string, number][]]>([
    [
      "the daily budget of new contacts",
      { newContactsAt: Array.from({ length: 200 }, () => steadyNow() - 23 * 60 * minuteMs) },
      [["new-contacts", 60]],
    ],
    ["the platform's lock", { lockedUntil: steadyNow() + 45 * minuteMs }, [["limited", 45]]],
    [
      "the platform's cap",
      { cap: { total: 10, used: 10, endsAt: steadyNow() + 30 * minuteMs } },
      [["limited", 30]],
    ],
    [
      "the spread of what is left of the cap",
      {
        cap: { total: 10, used: 8, endsAt: steadyNow() + 30 * minuteMs },
        newContactsAt: [steadyNow() - 10 * minuteMs],
      },
      [["cap-spread", 10]],
    ],
  ])("as a new contact for %s, and as a known one does not", async (_, history, obstacles) => {
    await add({ id: "A", priority: 3 });
    expect(await explain("A", pacingWith(history))).toEqual(obstacles);
    await befriend();
    expect(await explain("A", pacingWith(history))).toEqual([]);
  });
});

test("an outage that no message notices again within two minutes is not shown any more", () => {
  const { outages } = pacingWith();
  const until = outages.record("media", 0);
  expect(outages.list(until + 119_999)).toMatchObject([{ service: "media", seconds: 0 }]);
  expect(outages.list(until + 120_000)).toEqual([]);
  outages.record("media", until + 300_000);
  expect(outages.list(until + 300_000)).toMatchObject([{ ageSeconds: (until + 300_000) / 1_000 }]);
});

describe("a search", () => {
  test("reads a number with separators, an id, and a sender", () => {
    expect(readFilter(" +62 812-3456-7890 ", "")).toEqual({ phone: "6281234567890" });
    expect(readFilter(" 3EB0A1 ", "api:a")).toEqual({ id: "3EB0A1", sender: "api:a" });
    expect(readFilter("", "")).toEqual({});
    expect(readFilter("0812 3456 7890", "")).toEqual({ phone: "6281234567890" });
  });

  test("finds the messages of a number, an id or a sender by an index", async () => {
    await add({ id: "A" }, { id: "B", phone: "6281200000002" }, { id: "C", sender: "api:b" });
    const idsOf = async (query: string, sender = "") =>
      (await listMessages(reading, readFilter(query, sender))).map(({ id }) => id);
    expect(await idsOf("6281200000001")).toEqual(["C", "A"]);
    expect(await idsOf("B")).toEqual(["B"]);
    expect(await idsOf("", "api:b")).toEqual(["C"]);
    expect(await idsOf("6281200000001", "api:a")).toEqual(["A"]);
    expect(await idsOf("none")).toEqual([]);
    expect(await listSenders(reading)).toEqual(["api:a", "api:b"]);
    await sql`
      insert into messaging.message (id, sender, kind, phone, content, state, expires_at)
      select 'R' || i, 'api:' || i % 50, 'text', 62813000000 + i, '{}', 'READ', now() from generate_series(1, 5000) i`;
    for (const condition of ["phone = '62813000007'", "sender = 'api:7'"]) {
      const plan = await sql.unsafe(
        `explain select id from messaging.message where ${condition} order by seq desc limit 50`,
      );
      expect(JSON.stringify(plan)).toMatch(/Index Scan Backward using message_of_/);
    }
  });
});

test("the chart counts acceptance, sending and failure by hour, and what waited at the end of each", async () => {
  await sql`
    insert into messaging.message (id, sender, kind, phone, content, state, accepted_at, sent_at, changed_at, expires_at)
    select id, 'api:a', 'text', '6281200000001', '{}', state, date_trunc('hour', now()) - accepted::interval,
      date_trunc('hour', now()) - sent::interval, date_trunc('hour', now()) - changed::interval, now()
    from (values
      ('old', 'PENDING', '30 hours', null, '30 hours'),
      ('sent', 'READ', '5 hours', '3 hours', '1 hour'),
      ('failed', 'FAILED', '5 hours', null, '4 hours'),
      ('cancelled', 'CANCELLED', '5 hours', null, '2 hours'),
      ('new', 'PENDING', '0 s', null, '0 s')) given (id, state, accepted, sent, changed)`;
  const hours = await listHours(reading);
  expect(hours).toHaveLength(24);
  const tail = hours
    .slice(-7)
    .map(({ accepted, sent, failed, waiting }) => [accepted, sent, failed, waiting]);
  expect(tail).toEqual([
    [0, 0, 0, 1],
    [3, 0, 0, 4],
    [0, 0, 1, 3],
    [0, 1, 0, 2],
    [0, 0, 0, 1],
    [0, 0, 0, 1],
    [1, 0, 0, 2],
  ]);
});

test("the chart counts hours that are over once, and what came since", async () => {
  const addAt = (id: string, ago: string) => sql`
    insert into messaging.message (id, sender, kind, phone, content, state, accepted_at, sent_at, expires_at)
    select ${id}, 'api:a', 'text', '6281200000001', '{}', 'READ', at, at, now()
    from (select date_trunc('hour', now()) - ${ago}::text::interval as at) given`;
  const closed = new Map();
  const read = async () => (await listHours(reading, closed)).map(({ accepted, sent }) => [accepted, sent]);
  await addAt("A", "22 hours");
  await addAt("B", "3 hours");
  await addAt("C", "0 s");
  const first = await read();
  expect([first[1], first[20], first[23]]).toEqual([
    [1, 1],
    [1, 1],
    [1, 1],
  ]);
  await database.admin`delete from messaging.message where id = 'B'`;
  await addAt("D", "0 s");
  expect(await read()).toEqual([...first.slice(0, 23), [2, 2]]);
});

test("the chart counts a message as it ended in the end, in the hour of that", async () => {
  await add({ id: "late" }, { id: "again" }, { id: "cancelled" });
  const change = (id: string, state: string, hours: number) =>
    sql`update messaging.message set state = ${state}, changed_at = now() - ${hours} * interval '1 hour' where id = ${id}`;
  for (const id of ["late", "again", "cancelled"]) await change(id, "UNCERTAIN", 3);
  await change("late", "DELIVERED", 2);
  await change("again", "PENDING", 2);
  await change("again", "EXPIRED", 1);
  await change("cancelled", "PENDING", 2);
  await change("cancelled", "CANCELLED", 1);
  await sql`
    update messaging.message set accepted_at = now() - interval '3 hours',
      sent_at = case when id = 'late' then now() - interval '2 hours' end`;
  expect((await listHours(reading)).slice(-4).map(({ failed, waiting }) => [failed, waiting])).toEqual([
    [0, 3],
    [0, 2],
    [1, 0],
    [0, 0],
  ]);
});

test("two that end messages do not wait for each other, although both count", async () => {
  await add({ id: "A" }, { id: "B", phone: "6281200000002" });
  const other = connect(1);
  await sql.begin(async (one) => {
    await one`update messaging.message set state = 'FAILED' where id = 'A'`;
    await other`set lock_timeout = '1s'`;
    await other`update messaging.message set state = 'FAILED' where id = 'B'`;
  });
  expect((await listHours(reading)).at(-1)).toMatchObject({ failed: 2 });
});
