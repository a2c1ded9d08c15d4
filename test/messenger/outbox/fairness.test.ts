import { beforeEach, expect, test } from "vitest";
import { Submission } from "#lib/messaging/submission.ts";
import { returnToQueue } from "#lib/messenger/outbox/lifecycle.ts";
import { Rotation } from "#lib/messenger/outbox/next.ts";
import { markSent } from "#lib/messenger/outbox/receipt.ts";
import { storeMessages } from "#lib/messenger/outbox/store.ts";
import { putMessage, takeAny } from "../../fleet/outbox-rows.ts";
import { epoch, sql, take, useOutbox } from "./outbox-steps.ts";

useOutbox();
let rotation: Rotation;
beforeEach(() => {
  rotation = new Rotation();
});

const [large, small] = ["api:large", "api:small"];
let numbers = 62_812_000_000;
/** Stores a message to a number that nothing else goes to, unless one is given. */
const put = (id: string, sender: string, more: Partial<Submission> = {}) =>
  putMessage(sql, id, { sender, phone: String(numbers++), ...more });

const putMany = async (count: number, prefix: string, sender: string, more: Partial<Submission> = {}) => {
  for (let n = 1; n <= count; n++) await put(`${prefix}${n}`, sender, more);
};

/** Sends what waits, at most so many. @returns their ids, in order. */
const send = async (most = 1_000, resting: string[] = []): Promise<string[]> => {
  const ids: string[] = [];
  while (ids.length < most) {
    const message = await takeAny(sql, epoch, { resting, rotation });
    if (!message) break;
    await markSent(sql, message);
    ids.push(message.id);
  }
  return ids;
};

test("senders alternate, however many messages of one wait", async () => {
  await putMany(5, "L", large);
  await putMany(2, "S", small);
  expect(await send()).toEqual(["L1", "S1", "L2", "S2", "L3", "L4", "L5"]);
});

test("a sender who comes later is next, and does not make up for the time before", async () => {
  await putMany(6, "L", large);
  await send(3);
  await putMany(3, "S", small);
  expect(await send()).toEqual(["S1", "L4", "S2", "L5", "S3", "L6"]);
});

test("a backlog to a resting number does not go before other senders once a later message was sent", async () => {
  const phone = "6281200000001";
  await putMany(4, "L", large, { phone });
  await put("later", large);
  expect(await send(2, [phone])).toEqual(["later"]);
  await putMany(2, "S", small);
  expect(await send()).toEqual(["S1", "L1", "S2", "L2", "L3", "L4"]);
});

test("senders alternate within one batch", async () => {
  const submissions = ["a", "a", "a", "b", "b", "c"].map((sender, n) =>
    Submission.parse({ sender, kind: "text", phone: String(62_812_000_000 + n), text: "x" }),
  );
  await storeMessages(
    sql,
    submissions.map((submission, n) => ({ id: `${submission.sender}${n}`, submission, mediaId: null })),
  );
  expect(await send()).toEqual(["a0", "b3", "c5", "a1", "b4", "a2"]);
});

test("a message of a higher priority is first, whoever sends it", async () => {
  await putMany(2, "S", small, { class: "reminder" });
  await putMany(3, "L", large);
  await putMany(2, "C", large, { class: "one-time-code" });
  expect(await send()).toEqual(["C1", "C2", "L1", "L2", "L3", "S1", "S2"]);
});

test("many one-time codes of a sender do not delay his other messages beyond those of others", async () => {
  await putMany(4, "C", large, { class: "one-time-code" });
  await send();
  await putMany(2, "S", small);
  await putMany(2, "L", large);
  expect(await send()).toEqual(["S1", "L1", "S2", "L2"]);
});

test("messages to a number arrive in the order of acceptance, whoever sends them", async () => {
  const phone = "6281200000001";
  await putMany(6, "L", large, { phone });
  await putMany(2, "S", small, { phone });
  await put("other", small);
  await put("last", large, { phone });
  const others = ["L2", "L3", "L4", "L5", "L6", "S1", "S2", "last"];
  expect(await send()).toEqual(["L1", "other", ...others]);
});

test("messages to a number in one batch keep their order too", async () => {
  const phones = ["6281200000001", "6281200000002"];
  const given = [
    ...[0, 0, 0].map((to) => ({ sender: large, to })),
    ...[0, 1, 0].map((to) => ({ sender: small, to })),
  ];
  await storeMessages(
    sql,
    given.map(({ sender, to }, n) => ({
      id: String(n),
      submission: Submission.parse({ sender, kind: "text", phone: phones[to], text: "x" }),
      mediaId: null,
    })),
  );
  expect((await send()).filter((id) => id !== "4")).toEqual(["0", "1", "2", "3", "5"]);
});

test("a requeued message of one sender holds back a later one of another to the same number", async () => {
  const phone = "6281200000001";
  await put("L1", large, { phone });
  const taken = await take();
  await put("S1", small, { phone });
  await returnToQueue(sql, taken, { cost: "nothing", delaySeconds: 3_600 });
  expect(await send()).toEqual([]);
  await sql`update messaging.message set not_before = now(), held_until = null`;
  expect(await send()).toEqual(["L1", "S1"]);
});
