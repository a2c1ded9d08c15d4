import { describe, expect, test, vi } from "vitest";
import type { SendOutcome } from "#lib/channels/channel.ts";
import { noPace } from "#lib/messenger/send/pace.ts";
import { failNextWrite } from "../../fleet/next-write.ts";
import { number } from "../../fleet/outbox-rows.ts";
import {
  acked,
  composed,
  database,
  eventually,
  lead,
  platform,
  put,
  putImage,
  sent,
  sql,
  stateOf,
  untilIdle,
  useSender,
  wakeup,
} from "./sender-steps.ts";

vi.stubEnv("LOG_LEVEL", "error");

useSender();

const [first, second, third] = ["6281200000001", "6281200000002", "6281200000003"];

/** Uploads take until this is resolved. */
const delayUploads = () => {
  const upload = Promise.withResolvers<void>();
  platform.compose = async ({ kind }) => (kind === "text" ? undefined : upload.promise);
  return upload;
};

/** Messages to a number get their answer when this is resolved. */
const delayAnswers = (...phones: (string | undefined)[]) => {
  const answer = Promise.withResolvers<SendOutcome>();
  platform.verdicts = async ({ phone }) => (phones.includes(phone) ? answer.promise : acked);
  return answer;
};

const rowOf = async (id: string) => {
  const [row] = await sql`
    select state, attempts, lane, not_before <= now() as "isDue" from messaging.message where id = ${id}`;
  return row;
};

const untilSent = (id: string) => expect.poll(() => sent).toContain(id);

describe("while an upload takes long", () => {
  test("other messages are sent, and to its own number only codes", async () => {
    const upload = delayUploads();
    const image = await putImage(first);
    await lead();
    await eventually(image, "SENDING");
    const [text, code] = [await put(first), await put(first, "one-time-code")];
    const bulk = await put(second, "bulk");
    await eventually(bulk, "SENT");
    await untilBlocked(image);
    expect([await stateOf(text), sent]).toEqual(["PENDING", [code, bulk]]);
    upload.resolve();
    await eventually(text, "SENT");
    expect(sent).toEqual([code, bulk, image, text]);
  });

  test("another upload waits, so that a few large files cannot fill the memory", async () => {
    const upload = delayUploads();
    const [image, next] = [await putImage(first), await putImage(second)];
    const text = await put(third, "bulk");
    await lead();
    await eventually(text, "SENT");
    expect(composed).toEqual([image, text]);
    upload.resolve();
    await eventually(next, "SENT");
    expect(sent).toEqual([text, image, next]);
  });
});

/** Resolves once the sender has looked for more messages while one is under way. */
const untilBlocked = async (id: string) => {
  const waits = vi.spyOn(wakeup, "wait").mock.calls;
  const before = waits.length;
  const look = () => {
    wakeup.notify();
    return waits.length - before;
  };
  await expect.poll(look).toBeGreaterThanOrEqual(2);
  expect(await stateOf(id)).toBe("SENDING");
};

describe("the pace", () => {
  test("counts a message that has no answer yet", async () => {
    const answer = delayAnswers(first);
    const slow = await put(first);
    await lead({ ...noPace, perMinute: 1 });
    await untilSent(slow);
    const code = await put(second, "one-time-code");
    await untilBlocked(slow);
    expect(await stateOf(code)).toBe("PENDING");
    answer.resolve(acked);
    await eventually(slow, "SENT");
    await untilIdle();
    expect(sent).toEqual([slow]);
  });

  test("counts a new contact that has no answer yet", async () => {
    const answer = delayAnswers(first);
    const slow = await put(first);
    await sql`
      insert into messaging.contact (number, phone, since)
      values (${number}, ${third}, now() - interval '2 days')`;
    await lead({ ...noPace, newContactsPerDay: 1 });
    await untilSent(slow);
    const [stranger, known] = [await put(second, "one-time-code"), await put(third, "one-time-code")];
    await eventually(known, "SENT");
    await untilBlocked(slow);
    expect([await stateOf(stranger), sent]).toEqual(["PENDING", [slow, known]]);
    answer.resolve(acked);
  });

  test("is observed by an upload that ends after another message was sent: it waits for its turn", async () => {
    const upload = delayUploads();
    const image = await putImage(first);
    await lead({ ...noPace, perMinute: 1 });
    await eventually(image, "SENDING");
    const code = await put(second, "one-time-code");
    await eventually(code, "SENT");
    upload.resolve();
    await untilIdle();
    expect([sent, await rowOf(image)]).toEqual([
      [code],
      // uploaded once: in the lane of texts from now on
      { state: "PENDING", attempts: 0, lane: "other", isDue: true },
    ]);
  });
});

test("a code to the number of a message that has no answer yet waits for it", async () => {
  const answer = delayAnswers(first);
  const slow = await put(first);
  await lead();
  await untilSent(slow);
  const code = await put(first, "one-time-code");
  await untilBlocked(slow);
  expect([await stateOf(code), sent]).toEqual(["PENDING", [slow]]);
  answer.resolve(acked);
  await eventually(code, "SENT");
});

test("an upload that ends while a code to its number has no answer yet waits for it", async () => {
  const upload = delayUploads();
  const answer = delayAnswers(first);
  const image = await putImage(first);
  await lead();
  await eventually(image, "SENDING");
  const code = await put(first, "one-time-code");
  await untilSent(code);
  upload.resolve();
  await eventually(image, "PENDING");
  expect(sent).toEqual([code]);
  answer.resolve(acked);
  await eventually(image, "SENT");
  expect([sent, composed]).toEqual([
    [code, image],
    [image, code],
  ]);
});

test.each([
  ["it has expired", "update messaging.message set expires_at = now()"],
  ["an operator has paused sending", "update messaging.control set paused = true"],
  [
    "its quiet hours have begun",
    `update messaging.message set quiet_hours = '{"time_zone": "UTC", "from": "00:00", "to": "24:00"}'`,
  ],
])("an upload is not sent if at its end %s, and is not uploaded again", async (_, change) => {
  const upload = delayUploads();
  const image = await putImage(first);
  await lead();
  await eventually(image, "SENDING");
  await sql.unsafe(change);
  upload.resolve();
  await eventually(image, "PENDING");
  await untilIdle();
  expect([sent, composed, await rowOf(image)]).toMatchObject([
    [],
    [image],
    { state: "PENDING", attempts: 0 },
  ]);
});

test("a message to a new contact that was uploaded while they were paused is not sent", async () => {
  const upload = delayUploads();
  const image = await putImage(first);
  await lead();
  await eventually(image, "SENDING");
  platform.verdicts = async () => ({ outcome: "rejected", code: "463" });
  const stranger = await put(second);
  await untilSent(stranger);
  await expect.poll(() => stateOf(stranger)).toBe("PENDING");
  upload.resolve();
  await untilIdle();
  expect([sent, await rowOf(image)]).toMatchObject([[stranger], { state: "PENDING", attempts: 0 }]);
});

test("three codes to numbers that do not answer delay no other code", async () => {
  const slow = ["6281200000011", "6281200000012", "6281200000013"];
  const answer = delayAnswers(...slow);
  for (const phone of slow) await put(phone, "one-time-code");
  const code = await put(third, "one-time-code");
  const text = await put(second);
  await lead();
  await Promise.all([eventually(code, "SENT"), eventually(text, "SENT")]);
  expect(sent.length).toBe(5);
  answer.resolve(acked);
});

test("a message under way is not sent again when the database fails for another one", async () => {
  const answer = delayAnswers(first);
  const slow = await put(first);
  await lead();
  await untilSent(slow);
  await failNextWrite(database.admin, { table: "message", when: "new.state = 'SENDING'" });
  const other = await put(second, "one-time-code");
  await eventually(other, "SENT");
  answer.resolve(acked);
  await eventually(slow, "SENT");
  await untilIdle();
  expect([sent, (await rowOf(slow))?.attempts]).toEqual([[slow, other], 1]);
});

test("a sender that is stopped ends after its messages", async () => {
  const answer = delayAnswers(first);
  const slow = await put(first);
  const stop = await lead();
  await untilSent(slow);
  await untilBlocked(slow);
  const stopped = stop();
  answer.resolve(acked);
  await stopped;
  expect(await stateOf(slow)).toBe("SENT");
});
