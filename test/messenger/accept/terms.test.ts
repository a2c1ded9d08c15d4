import { beforeEach, describe, expect, test, vi } from "vitest";
import type { Submission } from "#lib/messaging/submission.ts";
import { acceptBatch } from "#lib/messenger/accept/acceptance.ts";
import { Quota } from "#lib/messenger/accept/quota.ts";
import {
  acceptWith,
  count,
  database,
  file,
  newId,
  seal,
  sourceOf,
  sql,
  store,
  text,
  useDatabase,
} from "./accept-steps.ts";

/*
 * What an operator allows a sender, and what is counted of it.
 */

let quota: Quota;

useDatabase();
beforeEach(() => {
  quota = new Quota(sql, 1_000, 0);
});

const take = (submission: Submission, inline?: Uint8Array) => acceptWith({ quota }, submission, inline);
const takeBatch = (batch: readonly Submission[]) =>
  acceptBatch({ sql, newId, seal, notify: () => {} }, batch);

const allow = (terms: { classes?: string; perDay?: number; bytesPerDay?: number; countries?: string }) =>
  database.admin`
    insert into messaging.sender (name, countries, classes, per_day, bytes_per_day)
    values ('test', string_to_array(${terms.countries ?? ""}, ' '), string_to_array(${terms.classes ?? "one-time-code transactional reminder bulk"}, ' '),
      ${terms.perDay ?? null}, ${terms.bytesPerDay ?? null})`;

/** What was accepted of a sender today. */
const today = async (sender = "api:test") => {
  const [row] = await sql`
    select sum(messages)::int as messages, sum(bytes)::int as bytes from messaging.sender_day
    where sender = ${sender} and day = (now() at time zone 'Asia/Jakarta')::date`;
  return [row?.messages, row?.bytes];
};

test("messages and the bytes of texts and media are counted once, with and without a key, and in batches", async () => {
  await Promise.all([
    take(text({ text: "é" })),
    take(text({ text: "é" })),
    take(text({ text: "a", sender: "api:b" })),
  ]);
  await take(text({ text: "abc", idempotency_key: "k" }));
  await take(text({ text: "abc", idempotency_key: "k" }));
  await take(text({ text: "123456", class: "one-time-code" }));
  await take(file({ text: "caption" }), Buffer.alloc(1_000));
  await take(file({ url: "https://example.com/a", idempotency_key: "f" }));
  expect([await today(), await today("api:b")]).toEqual([
    [6, 2 + 2 + 3 + 6 + 1_007 + 700],
    [1, 1],
  ]);
  const batch = [1, 2, 3].map((key) => text({ sender: "notification", idempotency_key: `${key}` }));
  await takeBatch(batch);
  await takeBatch(batch);
  expect(await today("notification")).toEqual([3, 15]);
});

test("a message that is not stored is not counted", async () => {
  await allow({ bytesPerDay: 100 });
  await expect(take(file({ url: "https://example.com/a" }))).rejects.toMatchObject({ status: 429 });
  await expect(
    store({ id: "x", submission: { ...text(), run: "no uuid" }, mediaId: null }),
  ).rejects.toThrow();
  expect([await today(), await count("message"), await count("media")]).toEqual([[null, null], 0, 0]);
});

test("concurrent acceptances of the same two senders are all counted", async () => {
  const pairs = Array.from({ length: 40 }, (_, n) =>
    ["api:a", "api:b"].map((sender) => text({ sender, idempotency_key: `${sender} ${n}` })),
  );
  await Promise.all(pairs.map((pair, n) => takeBatch(n % 2 ? pair : pair.toReversed())));
  expect([(await today("api:a"))[0], (await today("api:b"))[0]]).toEqual([40, 40]);
});

describe("a sender with limits", () => {
  test("gets 403 for another class, with those that are allowed", async () => {
    await allow({ classes: "reminder bulk" });
    await expect(take(text())).rejects.toMatchObject({
      status: 403,
      code: "class_not_allowed",
      message: expect.stringContaining("only the classes reminder, bulk."),
    });
    await take(text({ class: "bulk" }));
    await take(text({ sender: "api:another" }));
    expect(await count("message")).toBe(2);
  });

  test("gets 429 until midnight in Jakarta once its messages of the day are used up", async () => {
    await allow({ perDay: 2 });
    const first = await take(text({ idempotency_key: "a" }));
    await take(text());
    const error = await take(text()).catch((reason) => reason);
    expect(error).toMatchObject({ status: 429, code: "daily_quota_reached" });
    const midnight = new Date(Date.now() + error.retryAfterSeconds * 1_000).toLocaleTimeString("en-GB", {
      timeZone: "Asia/Jakarta",
    });
    expect(["23:59:59", "00:00:00", "00:00:01"]).toContain(midnight);
    // what was accepted is answered again, and others are not affected
    expect(await take(text({ idempotency_key: "a" }))).toEqual(first);
    await take(text({ sender: "api:another" }));
    await sql`update messaging.sender_day set day = day - 1`;
    await take(text());
  });

  test("gets 429 for another message of the day while a download takes long", async () => {
    await allow({ perDay: 1 });
    const { promise, resolve } = Promise.withResolvers<void>();
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const fetchMedia = async () => {
      ask();
      await promise;
      return sourceOf(Buffer.alloc(1));
    };
    const slow = { quota: new Quota(sql, 10_000, 0), fetchMedia };
    const first = acceptWith(slow, file({ url: "https://example.com/a" }));
    await asked;
    await expect(acceptWith(slow, text())).rejects.toMatchObject({ status: 429 });
    resolve();
    await first;
    expect(await count("message")).toBe(1);
  });

  test("gets 429 once its bytes of the day are used up, also by a download", async () => {
    await allow({ bytesPerDay: 1_000 });
    const full = { status: 429, code: "daily_quota_reached" };
    await expect(take(file(), Buffer.alloc(1_001))).rejects.toMatchObject(full);
    await take(file({ url: "https://example.com/a" }));
    await expect(take(file({ url: "https://example.com/a", idempotency_key: "b" }))).rejects.toMatchObject(
      full,
    );
    await take(text({ text: "x".repeat(300) }));
    await expect(take(text({ text: "x" }))).rejects.toMatchObject(full);
    await database.admin`update messaging.sender set bytes_per_day = null`;
    // the key of the rejected one is free
    await take(file({ url: "https://example.com/a", idempotency_key: "b" }));
  });

  test("may not exceed them by many requests within a second", async () => {
    quota = new Quota(sql, 1_000);
    await allow({ perDay: 3, bytesPerDay: 20 });
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => take(text())));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
  });

  test("has new terms within a second", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    quota = new Quota(sql, 1_000);
    await take(text());
    await allow({ perDay: 0 });
    vi.advanceTimersByTime(999);
    await take(text());
    vi.advanceTimersByTime(1);
    await expect(take(text())).rejects.toMatchObject({ code: "daily_quota_reached" });
    vi.useRealTimers();
  });

  test("does not limit notification jobs by its name", async () => {
    await database.admin`insert into messaging.sender (name, per_day) values ('notification', 0)`;
    await take(text({ sender: "notification" }));
    await takeBatch([text({ sender: "notification", idempotency_key: "a" })]);
    expect(await count("message")).toBe(2);
  });
});

test("a number that could be one at home without its code is sent to when the sender names its country", async () => {
  const japanese = text({ phone: "81312345678" });
  await expect(take(japanese)).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining("Send 6281312345678; for the other, the operator adds 81"),
  });
  expect(await count("message")).toBe(0);
  await allow({ countries: "65 81" });
  await take(japanese);
  await expect(take(text({ phone: "82112345678" }))).rejects.toMatchObject({ status: 400 });
  expect(await count("message")).toBe(1);
});
