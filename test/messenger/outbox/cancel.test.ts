import { describe, expect, test } from "vitest";
import { cancel } from "#lib/messenger/outbox/cancel.ts";
import { recover, returnToQueue } from "#lib/messenger/outbox/lifecycle.ts";
import { markSent } from "#lib/messenger/outbox/receipt.ts";
import { findState } from "#lib/messenger/outbox/state.ts";
import { beginTerm, takeAny } from "../../fleet/outbox-rows.ts";
import { epoch, prepare, put, sql, take, useOutbox } from "./outbox-steps.ts";

useOutbox(4);
const sender = "api:test";
const notWaiting = { status: 409, code: "not_waiting" };

test("a message that waits is cancelled once and for all, and never taken", async () => {
  await put("A");
  const first = await cancel(sql, "A", sender);
  expect(first).toMatchObject({ id: "A", status: "CANCELLED" });
  expect(await cancel(sql, "A", sender)).toEqual(first);
  expect(await takeAny(sql, epoch)).toBeUndefined();
  expect(await findState(sql, "A")).toEqual(first);
});

test("an unknown message and that of another sender are not found, and the latter stays", async () => {
  await put("A");
  expect(await cancel(sql, "B", sender)).toBeUndefined();
  expect(await cancel(sql, "A", "api:other")).toBeUndefined();
  expect(await take()).toMatchObject({ id: "A" });
});

describe("a message is not cancelled", () => {
  test("while it is being sent", async () => {
    await put("A");
    await take();
    await expect(cancel(sql, "A", sender)).rejects.toMatchObject(notWaiting);
    expect((await findState(sql, "A"))?.status).toBe("SENDING");
  });

  test("while it waits for another send without an answer to the one before", async () => {
    await put("A");
    const message = await take();
    await prepare(message);
    await returnToQueue(sql, message, { cost: "send" });
    await expect(cancel(sql, "A", sender)).rejects.toMatchObject(notWaiting);
    // also after an attempt that certainly failed
    await returnToQueue(sql, await take(), { cost: "attempt" });
    await expect(cancel(sql, "A", sender)).rejects.toMatchObject(notWaiting);
  });

  test("after its leader was lost while the frame may have left", async () => {
    await put("A");
    await prepare(await take());
    await recover(sql, await beginTerm(sql));
    expect((await findState(sql, "A"))?.status).toBe("PENDING");
    await expect(cancel(sql, "A", sender)).rejects.toMatchObject(notWaiting);
  });

  test.each(["SENT", "DELIVERED", "READ", "FAILED", "EXPIRED", "UNCERTAIN"])("that is %s", async (state) => {
    await put("A");
    await sql`update messaging.message set state = ${state}`;
    await expect(cancel(sql, "A", sender)).rejects.toMatchObject(notWaiting);
    expect((await findState(sql, "A"))?.status).toBe(state);
  });
});

test.each([
  ["failed", "attempt"],
  ["was not made", "nothing"],
] as const)("a message is cancelled after an attempt that %s, of which nothing left", async (_, cost) => {
  await put("A");
  await returnToQueue(sql, await take(), { cost, delaySeconds: 3_600 });
  expect((await cancel(sql, "A", sender))?.status).toBe("CANCELLED");
});

test("what a cancelled message holds back is sent", async () => {
  await put("A");
  await put("B");
  await returnToQueue(sql, await take(), { cost: "nothing", delaySeconds: 3_600 });
  expect(await takeAny(sql, epoch)).toBeUndefined();
  await cancel(sql, "A", sender);
  expect(await take()).toMatchObject({ id: "B" });
});

test("the media of a cancelled message are deleted", async () => {
  await put("A");
  await sql`
    with stored as (insert into messaging.media (sender, content_type) values (${sender}, 'image/png') returning id),
      chunk as (insert into messaging.media_chunk select id, 0, 'x' from stored)
    update messaging.message set media_id = stored.id from stored`;
  await cancel(sql, "A", sender);
  const left = await sql`
    select id from messaging.media union all select media_id from messaging.media_chunk
    union all select media_id from messaging.message where media_id is not null`;
  expect(left).toHaveLength(0);
});

test("of a cancelled one-time code neither text nor payload remain", async () => {
  await put("A", { class: "one-time-code" });
  await sql`update messaging.message set content = '{"sealed": "c2VhbGVk"}'`;
  const message = await take();
  await prepare(message);
  await returnToQueue(sql, message, { cost: "nothing", uploaded: true });
  await cancel(sql, "A", sender);
  const left = await sql`
    select content, (select count(*)::int from messaging.payload) as payloads from messaging.message`;
  expect(left[0]).toEqual({ content: {}, payloads: 0 });
});

test("a message is cancelled or taken, never both, whichever comes first", async () => {
  const ids = Array.from({ length: 60 }, (_, n) => `M${n}`);
  for (const [n, id] of ids.entries()) await put(id, { phone: String(62_812_000_000 + n) });
  const sent: string[] = [];
  const send = async () => {
    for (let message = await takeAny(sql, epoch); message; message = await takeAny(sql, epoch)) {
      sent.push(message.id);
      await markSent(sql, message);
    }
  };
  const cancelled: string[] = [];
  const stop = async () => {
    for (const id of ids.toReversed())
      await cancel(sql, id, sender).then(
        () => cancelled.push(id),
        (error) => expect(error).toMatchObject(notWaiting),
      );
  };
  await Promise.all([send(), stop()]);
  expect([...sent, ...cancelled].toSorted()).toEqual(ids.toSorted());
  expect([sent.length > 0, cancelled.length > 0]).toEqual([true, true]);
});
