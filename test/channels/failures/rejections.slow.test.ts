import { expect, test } from "vitest";
import { noPace } from "#lib/messenger/send/pace.ts";
import type { Task } from "#lib/messenger/task.ts";
import type { FailureModes } from "../../../infra/local/whatsapp/behaviour.ts";
import {
  eventually,
  metricsOf,
  openConsole,
  platform,
  readConsole,
  sql,
  stageEachTest,
  start,
  startOpen,
  stateOf,
  submit,
  untilOpen,
} from "../../fleet/running-task.ts";
import { expectShown, type Shown } from "./expect-shown.ts";

stageEachTest();

const friend = "6281200000002";
const otherFriend = "6281200000003";
const inSeconds = (seconds: number) => Math.ceil(Date.now() / 1_000) + seconds;
const hour = 3_600;
/** A lock that ends begins with the message that it rejects, and must still be there when the messenger asks for it. */
const brief = { seconds: 1 };

/** What the console says about new contacts, and the metric. */
const limitsOf = async (task: Task) => {
  const { limited = 0 } = await metricsOf(task);
  return { shown: /<p id="limits"[^>]*>([^<]*)</.exec(await readConsole(task))?.[1], limited };
};

/** Makes a number a known contact of the account. */
const befriend = async (task: Task, number: string) => {
  platform.register(number);
  await eventually(task, (await submit(task, { phone: number })).id, "READ");
};

const untilRejected = (id: string) =>
  expect
    .poll(() => sql`select from messaging.message where id = ${id} and rejections ? 'code'`)
    .toHaveLength(1);

const untilAnswered = (id: string) =>
  expect
    .poll(
      () => sql`select from messaging.message where id = ${id} and (state = 'SENT' or rejections ? 'code')`,
    )
    .toHaveLength(1);

interface FailureMode extends Shown {
  readonly failureMode: string;
  /** Once the task is connected. */
  readonly behaviour: () => FailureModes;
  readonly to?: "friend";
}

const nack = (code: number, messages?: number) => () => ({
  nack: { code, ...(messages !== undefined && { messages }) },
});
const locked = /^WhatsApp accepts no messages to new contacts for another (\d+ min|1 h)/;

/** The metrics when a message has failed or waits, and when it was sent; two friends were sent to before. */
const unsent = (counts: Record<string, number>) => ({ sent: 2, ...counts });
const sent = (retried: number) => ({ sent: 3, retried });
const rejected463 = /rejected before, code 463: the account may not message/;

const failureModes: readonly FailureMode[] = [
  // by LID and by number
  {
    failureMode: "400",
    behaviour: nack(400),
    status: "FAILED",
    reason: /code 400: .*invalid/,
    frames: 2,
    metrics: unsent({ failed: 1 }),
  },
  {
    failureMode: "an unknown code",
    behaviour: nack(488),
    status: "FAILED",
    reason: /code 488: /,
    frames: 1,
    metrics: unsent({ failed: 1 }),
  },
  { failureMode: "421 once", behaviour: nack(421, 1), status: "SENT", frames: 2, metrics: sent(1) },
  {
    failureMode: "479 for ever",
    behaviour: nack(479),
    status: "FAILED",
    reason: /479: .*out of date/,
    frames: 2,
    metrics: unsent({ retried: 1, failed: 1 }),
  },
  {
    failureMode: "479 until devices and keys are queried again",
    behaviour: () => ({ stale: { code: 479 } }),
    status: "SENT",
    frames: 2,
    metrics: sent(1),
  },
  {
    failureMode: "421 for a known contact until devices and keys are queried again",
    behaviour: () => ({ stale: { code: 421 } }),
    to: "friend",
    status: "SENT",
    frames: 2,
    metrics: sent(1),
  },
  {
    failureMode: "475 once, without a cap",
    behaviour: nack(475, 1),
    status: "SENT",
    frames: 2,
    metrics: sent(1),
  },
  { failureMode: "429 three times", behaviour: nack(429, 3), status: "SENT", frames: 4, metrics: sent(3) },
  { failureMode: "500 six times", behaviour: nack(500, 6), status: "SENT", frames: 7, metrics: sent(6) },
  {
    failureMode: "503 for ever",
    behaviour: nack(503),
    status: "FAILED",
    reason: /503: .*internal error/,
    frames: 13,
    metrics: unsent({ retried: 12, failed: 1 }),
  },
  {
    failureMode: "463 and a lock of an hour",
    behaviour: () => ({ newChats: { lock: { endsAt: inSeconds(hour) } } }),
    status: "PENDING",
    frames: 1,
    console: rejected463,
    alerts: ["limited"],
    limits: locked,
    metrics: { ...sent(1), limited: 1 },
  },
  {
    failureMode: "463 and a lock that ends",
    behaviour: () => ({ newChats: { lock: brief } }),
    status: "SENT",
    frames: 2,
    metrics: sent(1),
  },
  {
    failureMode: "463 even after the lock has ended",
    behaviour: () => ({ ...nack(463)(), newChats: { lock: brief } }),
    status: "FAILED",
    reason: /463: the account may not message/,
    frames: 2,
    metrics: unsent({ retried: 1, failed: 1 }),
  },
  {
    failureMode: "463 and no answer about a lock",
    behaviour: () => ({ ...nack(463)(), newChats: { answers: false } }),
    status: "PENDING",
    frames: 1,
    console: rejected463,
    alerts: ["limited"],
    limits: /another (59 min|1 h)/,
    metrics: unsent({ retried: 2, limited: 1 }),
  },
  {
    failureMode: "463 for a known contact, without a lock",
    behaviour: nack(463),
    to: "friend",
    status: "PENDING",
    frames: 1,
    console: rejected463,
    metrics: unsent({ retried: 2 }),
  },
  {
    failureMode: "475 at the end of the cap",
    behaviour: () => ({ newChats: { cap: { total: 100, used: 100, endsAt: inSeconds(hour) } } }),
    status: "PENDING",
    frames: 1,
    console: /rejected before, code 475: the account has reached its cap/,
    alerts: ["limited"],
    limits: /100 of 100 new contacts/,
    metrics: { ...sent(1), limited: 1 },
  },
];

test.each(failureModes)(
  "when the platform answers $failureMode, the message is $status after $frames frames",
  async (row) => {
    const task = await startOpen();
    await befriend(task, friend);
    await befriend(task, otherFriend);
    platform.behave({ receipts: [], ...row.behaviour() });
    const { id } = await submit(task, row.to ? { phone: friend } : {});
    if (row.status === "PENDING") {
      await untilRejected(id);
      // taken later than a message that may be sent again
      await untilAnswered((await submit(task, { phone: otherFriend })).id);
    }
    await expectShown(task, id, row);
    expect(platform.faults).toEqual([]);
  },
);

test("a known contact that is rejected with 463 delays neither new contacts nor other known ones", async () => {
  const task = await startOpen();
  await befriend(task, friend);
  await befriend(task, otherFriend);
  platform.behave({ nack: { code: 463, to: friend } });
  const rejected = await submit(task, { phone: friend });
  await untilRejected(rejected.id);
  await eventually(task, (await submit(task, { phone: otherFriend })).id, "DELIVERED");
  await eventually(task, (await submit(task, {})).id, "DELIVERED");
  expect([(await stateOf(task, rejected.id)).status, platform.arrivalsOf(rejected.id)]).toEqual([
    "PENDING",
    1,
  ]);
});

test("one new contact that is rejected with 463 without a lock does not pause the others; a second one does", async () => {
  const task = await startOpen();
  for (const number of [friend, otherFriend]) platform.register(number);
  platform.behave({ nack: { code: 463, to: friend } });
  await untilRejected((await submit(task, { phone: friend })).id);
  await eventually(task, (await submit(task, {})).id, "DELIVERED");
  platform.behave({ nack: { code: 463 } });
  await untilRejected((await submit(task, { phone: otherFriend })).id);
  expect(await limitsOf(task)).toMatchObject({ limited: 1 });
});

test.each([
  ["a lock", () => ({ lock: { endsAt: inSeconds(hour) } }), /another 59 min|another 1 h/],
  ["a cap", () => ({ cap: { total: 10, used: 10, endsAt: inSeconds(hour) } }), /10 of 10/],
])(
  "%s that is announced holds back new contacts before any is rejected, until it is lifted",
  async (_, limit, shown) => {
    const task = await startOpen();
    platform.behave({ newChats: limit() });
    platform.announceLimits();
    await expect.poll(() => limitsOf(task)).toEqual({ shown: expect.stringMatching(shown), limited: 1 });
    const { id } = await submit(task, {});
    platform.behave({});
    expect([platform.arrivalsOf(id), (await stateOf(task, id)).status]).toEqual([0, "PENDING"]);
    platform.announceLimits();
    await eventually(task, id, "DELIVERED");
  },
);

test("the end of a lock that is announced without one is asked for", async () => {
  const task = await startOpen();
  platform.behave({ newChats: { lock: { endsAt: inSeconds(3 * hour), isEndAnnounced: false } } });
  platform.announceLimits();
  const lasting = () => sql`select from messaging.number where locked_until > now() + interval '2 hours'`;
  await expect.poll(lasting).toHaveLength(1);
  expect(await limitsOf(task)).toMatchObject({ limited: 1 });
});

test.each<[string, () => FailureModes, RegExp]>([
  ["a lock", () => ({ newChats: { lock: { endsAt: inSeconds(hour) } } }), locked],
  [
    "a cap",
    () => ({ newChats: { cap: { total: 100, used: 100, endsAt: inSeconds(hour) } } }),
    /another (59 min|1 h).*100 of 100 new contacts/,
  ],
  ["a pause after 463 without an answer", () => ({ ...nack(463)(), newChats: { answers: false } }), locked],
])(
  "%s survives a restart, also when the platform no longer answers for it",
  async (_, failureMode, shown) => {
    const task = await startOpen();
    await befriend(task, friend);
    platform.behave(failureMode());
    const { id } = await submit(task, {});
    await untilRejected(id);
    await task.stop();
    platform.behave({ newChats: { answers: false } });
    const next = await start();
    await untilOpen(next);
    // new contacts are held back until the platform has not answered in time, too
    await eventually(next, (await submit(next, { phone: friend })).id, "DELIVERED");
    await expect.poll(() => limitsOf(next)).toEqual({ shown: expect.stringMatching(shown), limited: 1 });
    expect([platform.arrivalsOf(id), (await stateOf(next, id)).status]).toEqual([1, "PENDING"]);
  },
);

test("the console says for how long nothing is sent after code 429", async () => {
  const task = await start({ ...noPace, retryMs: [hour * 1_000, hour * 1_000] });
  await untilOpen(task);
  await befriend(task, friend);
  platform.behave({ nack: { code: 429, messages: 1 } });
  const { id } = await submit(task, {});
  await untilRejected(id);
  const waiting = await submit(task, { phone: friend });
  const console = await openConsole(task);
  expect(await console.read()).toMatch(
    /sends too fast: nothing is sent until [^;]*\d\d:\d\d \(WIB\); messages stay/,
  );
  expect((await limitsOf(task)).shown).toMatch(/sends too fast: nothing is sent for another (59 min|1 h)/);
  expect([id, waiting.id].map((one) => platform.arrivalsOf(one))).toEqual([1, 0]);
  for (const one of [id, waiting.id]) expect((await stateOf(task, one)).status).toBe("PENDING");
});

test("a message that expires while it waits says why it was not sent", async () => {
  const task = await start({ ...noPace, retryMs: [hour * 1_000, hour * 1_000] });
  await untilOpen(task);
  platform.behave({ nack: { code: 503 } });
  const { id } = await submit(task, {});
  await untilRejected(id);
  await sql`update messaging.message set expires_at = now() where id = ${id}`;
  await eventually(task, id, "EXPIRED");
  expect((await stateOf(task, id)).reason).toMatch(/not sent before it expired; rejected .* code 503/);
});
