import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { Submission } from "#lib/messaging/submission.ts";
import type { Source } from "#lib/messenger/accept/acceptance.ts";
import { Quota } from "#lib/messenger/accept/quota.ts";
import { deleteMedia, readMedia, releaseMedia } from "#lib/messenger/outbox/media.ts";
import { findState } from "#lib/messenger/outbox/state.ts";
import { endBlocked } from "../../fleet/blocked-connections.ts";
import {
  acceptWith,
  count,
  file,
  sourceOf,
  sql,
  store,
  streamOf,
  text,
  useDatabase,
} from "./accept-steps.ts";

let notified: number;
let source: Source;
let quota: Quota;

useDatabase();
beforeEach(() => {
  quota = new Quota(sql, 1_000);
  notified = 0;
});

const take = (submission: Submission, inline?: Uint8Array, signal?: AbortSignal) =>
  acceptWith(
    {
      quota,
      notify: () => {
        notified += 1;
      },
      fetchMedia: async (_, bytes) => (bytes ? sourceOf(bytes) : source),
    },
    submission,
    inline,
    signal,
  );

test("an answered message is in the database, pending", async () => {
  const { id, status } = await take(text());
  expect([status, notified]).toEqual(["PENDING", 1]);
  expect(await findState(sql, id)).toMatchObject({ id, status: "PENDING" });
  const [row] =
    await sql`select content, priority, expires_at - accepted_at = interval '72 hours' as whole from messaging.message`;
  expect(row).toEqual({
    content: { text: "hello", view_once: false, is_forwarded: false },
    priority: 1,
    whole: true,
  });
});

test("concurrent messages are all stored, each with its own id, in the order of arrival", async () => {
  const answers = await Promise.all(Array.from({ length: 500 }, (_, i) => take(text({ text: String(i) }))));
  const rows = await sql`select id, content ->> 'text' as text from messaging.message order by seq`;
  expect(rows.map(({ id }) => id)).toEqual(answers.map(({ id }) => id));
  expect(rows.map(({ text }) => Number(text))).toEqual(answers.map((_, i) => i));
});

test("stores media in chunks, unchanged", async () => {
  const bytes = Buffer.alloc(2_500_000, "0123456789");
  await take(file(), bytes);
  const pieces: Buffer[] = [];
  for await (const piece of readMedia(sql, 1)) pieces.push(piece);
  expect(pieces.map(({ length }) => length)).toEqual([1_048_576, 1_048_576, 402_848]);
  expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
});

test("equal texts have different digests: one alone does not reveal a one-time code", async () => {
  for (const key of ["a", "b"]) await take(text({ class: "one-time-code", idempotency_key: key }));
  const [row] = await sql<{ digests: number }[]>`
    select count(distinct payload_digest)::int as digests from messaging.idempotency`;
  expect(row?.digests).toBe(2);
});

test("keeps nothing of media whose caller has gone before the answer, and its key is free", async () => {
  const gone = AbortSignal.abort();
  await expect(take(file({ idempotency_key: "k" }), Buffer.from("a"), gone)).rejects.toThrow("aborted");
  expect([await count("message"), await count("media"), await count("idempotency")]).toEqual([0, 0, 0]);
});

test.each([
  ["1 GiB of its own", "api:test", 1024 ** 3, "notification"],
  ["4 GiB in all", "api:other", 4 * 1024 ** 3, undefined],
])("rejects the media of a sender while %s are stored", async (_, sender, bytes, other) => {
  await sql`insert into messaging.media (sender, content_type, size_bytes) values (${sender}, 'x/y', ${bytes})`;
  await expect(take(file(), Buffer.from("a"))).rejects.toMatchObject({ status: 503, retryAfterSeconds: 5 });
  expect([await count("message"), await count("media")]).toEqual([0, 1]);
  if (other) await take(file({ sender: other }), Buffer.from("a"));
  await sql`update messaging.media set size_bytes = size_bytes - 1`;
  await take(file(), Buffer.from("a"));
});

test("accepts nothing when the media stream breaks, and later deletes the incomplete media", async () => {
  source = { contentType: "x/y", fileName: undefined, body: streamOf(Buffer.from("a"), new Error("cut")) };
  await expect(take(file({ url: "http://example.com/a", idempotency_key: "k" }))).rejects.toMatchObject({
    code: "session_unavailable",
    cause: new Error("cut"),
  });
  expect([await count("message"), await count("idempotency"), notified]).toEqual([0, 0, 0]);
  await sql`update messaging.media set created_at = now() - interval '2 hours'`;
  expect(await deleteMedia(sql, 10)).toBe(1);
});

test.each([
  [0, "PENDING"],
  [0, "SENDING"],
  [1, "SENT"],
])("deletes %i media of a message that has been %s for two hours", async (swept, state) => {
  await take(file(), Buffer.from("x"));
  await sql`update messaging.message set state = ${state}, changed_at = now() - interval '2 hours'`;
  await sql`update messaging.media set created_at = now() - interval '2 hours'`;
  expect([await releaseMedia(sql, 10), await deleteMedia(sql, 10)]).toEqual([swept, swept]);
  expect(await count("media")).toBe(1 - swept);
});

test.each([
  ["a text without text", { kind: "text", text: "" }, undefined],
  ["a text with media", { kind: "text" }, Buffer.from("x")],
  ["a file without media", { kind: "file" }, undefined],
  ["a file with both sources", { kind: "file", url: "http://example.com/a" }, Buffer.from("x")],
])("rejects %s", async (_, more, inline) => {
  await expect(take(text(more), inline)).rejects.toMatchObject({ status: 400 });
  expect(await count("message")).toBe(0);
});

describe("an Idempotency-Key", () => {
  const keyed = (more = {}) => text({ idempotency_key: "order-1", ...more });

  test("used by fifty concurrent requests stores one message, and all get its answer or 409", async () => {
    const answers = await Promise.allSettled(Array.from({ length: 50 }, () => take(keyed())));
    const ids = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value.id] : []));
    const rejections = answers.flatMap((answer) =>
      answer.status === "rejected" ? [answer.reason.status] : [],
    );
    expect(new Set(ids).size).toBe(1);
    expect(rejections.every((status) => status === 409)).toBe(true);
    expect(await count("message")).toBe(1);
  });

  test("belongs to its sender: the same key of another one is for another message", async () => {
    const ids = [await take(keyed()), await take(keyed({ sender: "notification" }))].map(({ id }) => id);
    expect([new Set(ids).size, await count("message")]).toEqual([2, 2]);
    expect((await take(keyed())).id).toBe(ids[0]);
  });

  test("of a text is free when the connection is lost before the message is stored", async () => {
    await sql.begin(async (tx) => {
      await tx`lock table messaging.message in share mode`;
      const broken = expect(take(keyed())).rejects.toThrow();
      await endBlocked(sql);
      await broken;
    });
    expect((await take(keyed())).status).toBe("PENDING");
  });

  test("repeats the first answer", async () => {
    const first = await take(keyed());
    expect(await take(keyed())).toEqual(first);
    expect(notified).toBe(1);
  });

  test.each([
    ["another text", { text: "other" }],
    ["another number", { phone: "6281200000002" }],
    ["another option", { is_forwarded: true }],
  ])("for %s is 422", async (_, more) => {
    await take(keyed());
    await expect(take(keyed(more))).rejects.toMatchObject({ status: 422 });
  });

  test("for other bytes is 422", async () => {
    await take(file({ idempotency_key: "f" }), Buffer.from("a"));
    await expect(take(file({ idempotency_key: "f" }), Buffer.from("b"))).rejects.toMatchObject({
      status: 422,
    });
  });

  test("is free after 24 hours, and two minutes after a task crashed before storing the message", async () => {
    const age = (interval: string) =>
      sql`update messaging.idempotency set created_at = now() - ${interval}::text::interval`;
    const first = await take(keyed());
    await age("23 hours 59 minutes");
    expect(await take(keyed())).toEqual(first);
    await age("24 hours");
    expect((await take(keyed())).id).not.toBe(first.id);
    await sql`update messaging.idempotency set message_id = null`;
    await age("1 minute 30 seconds");
    await expect(take(keyed())).rejects.toMatchObject({ status: 409, retryAfterSeconds: 1 });
    await age("2 minutes");
    expect((await take(keyed())).status).toBe("PENDING");
  });

  test("of an image that was not ready in time is free, and what comes of the image later is not stored", async () => {
    const image = file({ idempotency_key: "i", kind: "image" });
    const waiting = Promise.withResolvers<void>();
    const fetchMedia = async () => {
      await waiting.promise;
      return { contentType: "image/png", fileName: undefined, body: streamOf(Buffer.from("a")) };
    };
    const stored: string[] = [];
    const storing: typeof store = (message) => {
      stored.push(message.id);
      return store(message);
    };
    // the limit is shorter than a claim is held, as in production
    const impatient = { store: storing, fetchMedia, maxMediaMs: 50 };
    await expect(acceptWith(impatient, image, Buffer.from("a"))).rejects.toThrow();
    const { id } = await take(image, Buffer.from("a"));
    waiting.resolve();
    await expect.poll(() => count("media")).toBe(2);
    expect([stored, await count("message"), (await take(image, Buffer.from("a"))).id]).toEqual([[], 1, id]);
  });

  test("of a file is not free when the connection is lost after the message was stored", async () => {
    const submission = file({ idempotency_key: "f" });
    const losing: typeof store = async (message) => {
      await store(message);
      throw new Error("the connection is lost");
    };
    await expect(acceptWith({ store: losing }, submission, Buffer.from("a"))).rejects.toThrow("lost");
    const [stored] = await sql<{ id: string }[]>`select id from messaging.message`;
    expect((await take(submission, Buffer.from("a"))).id).toBe(stored?.id);
    expect(await count("message")).toBe(1);
  });
});

describe("a sender whose quota is used up", () => {
  const endOne = () => sql`
    update messaging.message set state = 'SENT' where seq = (select min(seq) from messaging.message where is_open)`;

  test("gets 429 with a time to try again until one of his messages has ended; others are not affected", async () => {
    quota = new Quota(sql, 2, 0);
    await take(text());
    await take(text());
    const refused = { status: 429, code: "too_many_requests", retryAfterSeconds: 60 };
    await expect(take(text())).rejects.toMatchObject(refused);
    await take(text({ sender: "notification" }));
    await endOne();
    await take(text());
    await expect(take(text())).rejects.toMatchObject(refused);
    expect(await count("message")).toBe(4);
  });

  test("gets the first answer to a repeated request, and may use the key of a refused one", async () => {
    quota = new Quota(sql, 1, 0);
    const first = await take(text({ idempotency_key: "a" }));
    await expect(take(text({ idempotency_key: "b" }))).rejects.toMatchObject({ status: 429 });
    expect(await take(text({ idempotency_key: "a" }))).toEqual(first);
    await endOne();
    expect((await take(text({ idempotency_key: "b" }))).id).not.toBe(first.id);
  });

  test("is counted once a second, whatever he sends", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    quota = new Quota(sql, 2);
    await Promise.all([take(text()), take(text())]);
    await expect(take(text())).rejects.toMatchObject({ status: 429 });
    await endOne();
    vi.advanceTimersByTime(999);
    await expect(take(text())).rejects.toMatchObject({ status: 429 });
    vi.advanceTimersByTime(1);
    await take(text());
  });
});
