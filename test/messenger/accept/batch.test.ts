import { beforeEach, expect, test } from "vitest";
import type { Submission } from "#lib/messaging/submission.ts";
import { acceptBatch } from "#lib/messenger/accept/acceptance.ts";
import { untilBlocked } from "../../fleet/blocked-connections.ts";
import { count, database, newId, seal, sql, text, useDatabase } from "./accept-steps.ts";

useDatabase();

let notified: number;
beforeEach(() => {
  notified = 0;
});
const notify = () => {
  notified += 1;
};
const batch = (from: number, to: number, words = "hello") =>
  Array.from({ length: to - from }, (_, n) => text({ text: words, idempotency_key: `k${from + n}` }));
const takeBatch = (submissions: readonly Submission[]) =>
  acceptBatch({ sql, newId, seal, notify }, submissions);

test("a batch is stored in its order, and answered with an id for each text", async () => {
  const ids = await takeBatch(batch(0, 300));
  const rows = await sql<{ id: string }[]>`select id from messaging.message order by seq`;
  expect(rows.map(({ id }) => id)).toEqual(ids);
  expect([await count("idempotency"), notified]).toEqual([300, 1]);
});

test("a batch that is partly known gets the first ids, whatever the content, and the rest is stored", async () => {
  const first = await takeBatch(batch(2, 5));
  const again = await takeBatch(batch(0, 6, "other words"));
  expect(again.slice(2, 5)).toEqual(first);
  expect([await count("message"), new Set(again).size]).toEqual([6, 6]);
  expect(await takeBatch(batch(0, 6))).toEqual(again);
  expect(notified).toBe(2);
});

test("a batch sent to several tasks at once is stored once", async () => {
  const answers = await Promise.allSettled(Array.from({ length: 6 }, () => takeBatch(batch(0, 50))));
  const given = answers.filter(({ status }) => status === "fulfilled");
  expect(new Set(given.map((answer) => JSON.stringify(answer))).size).toBe(1);
  expect(await count("message")).toBe(50);
});

test("a batch sent to two tasks at once in opposite orders is stored once, without a deadlock", async () => {
  const holder = database.connect(1);
  const claim = (key: string) => holder`
    insert into messaging.idempotency (key_digest, payload_digest)
    values (sha256(${`8 api:test${key.length} ${key}`}::text::bytea), sha256(''))`;
  await holder`begin`;
  await claim("k5"); // both wait for it with half of their own claims made
  const answers = Promise.all([takeBatch(batch(0, 10)), takeBatch(batch(0, 10).toReversed())]);
  await untilBlocked(sql, 2);
  await holder`rollback`;
  const [ids, reversed] = await answers;
  expect(reversed.toReversed()).toEqual(ids);
  expect(await count("message")).toBe(10);
});

test("a batch is 409 while another request with one of its keys is in progress, and a retry loses nothing", async () => {
  await sql`
    insert into messaging.idempotency (key_digest, payload_digest)
    select sha256('8 api:test2 k1'::bytea), sha256('')`;
  await expect(takeBatch(batch(0, 3))).rejects.toMatchObject({ status: 409 });
  await sql`update messaging.idempotency set created_at = now() - interval '3 minutes' where message_id is null`;
  expect(new Set(await takeBatch(batch(0, 3))).size).toBe(3);
  expect(await count("message")).toBe(3);
});
