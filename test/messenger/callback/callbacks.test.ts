import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { beforeEach, expect, test } from "vitest";
import { callbackDirectory } from "#lib/messenger/callback/callback-admin.ts";
import type { Schedule } from "#lib/messenger/callback/event.ts";
import { readQueue } from "#lib/messenger/outbox/depth.ts";
import { encryptionWith } from "#lib/messenger/outbox/encryption.ts";
import { noPace } from "#lib/messenger/send/pace.ts";
import { secretTable } from "#lib/secrets/table/table.ts";
import { type Call, startReceiver, verify } from "../../fleet/callback-receiver.ts";
import { putMessage } from "../../fleet/outbox-rows.ts";
import * as running from "../../fleet/running-task.ts";
import { loopback } from "../../steps/loopback.ts";
import { textOf } from "../../steps/page-text.ts";

running.stageEachTest();

const sender = "api:test";
const schedule = {
  ...{ everyMs: 20, leaseSeconds: 60 },
  ...{ firstSeconds: 0.05, longestSeconds: 0.2, longestOfAddressSeconds: 0.2 },
};

let directory: ReturnType<typeof callbackDirectory>;
beforeEach(() => {
  directory = callbackDirectory(running.database.admin, running.encryption, sender);
});

const startCalling = async (times: Schedule = schedule) => {
  const task = await running.start(noPace, {}, { connector: loopback, schedule: times });
  await running.untilOpen(task);
  return task;
};

const register = async (url: string, by = directory): Promise<string> =>
  (await by.add(url)) ?? expect.fail("the address is known");

const body = "openapi#/webhooks/message.state/post/requestBody/content/application~1json/schema";
const isDocumented = formats
  .default(new Ajv2020({ strict: false }))
  .addSchema(JSON.parse(readFileSync("dist/openapi.json", "utf8")), "openapi")
  .compile({ $ref: body });

const isRead = ({ data }: Call) => data.status === "READ";
/** A receipt may arrive before the platform's answer: then a message is never SENT. */
const inOrder = (statuses: readonly string[]) =>
  ["SENT", "DELIVERED", "READ"].filter((status) => statuses.includes(status));
const uniqueIds = (calls: readonly Call[]) => new Set(calls.map(({ id }) => id));

test("each change of a message's state is sent to its sender's address in order, signed", async () => {
  const receiver = await startReceiver();
  const secret = await register(receiver.url);
  const task = await startCalling();
  const { id } = await running.submit(task, {});
  await receiver.until(() => receiver.calls.some(isRead));
  const statuses = receiver.statuses(id);
  expect(statuses).toEqual(inOrder(statuses));
  expect(uniqueIds(receiver.calls).size).toBe(statuses.length);
  for (const call of receiver.calls) {
    expect(verify(secret, call)).toMatchObject({ type: "message.state", data: { id } });
    expect([isDocumented(JSON.parse(call.body)), isDocumented.errors]).toEqual([true, null]);
  }
  expect(receiver.calls[0]?.body).not.toContain(running.phone);
  expect(receiver.calls.at(-1)?.data).toEqual(await running.stateOf(task, id));
});

test("another sender's address gets nothing of it", async () => {
  const [own, other] = [await startReceiver(), await startReceiver()];
  await register(own.url);
  await register(other.url, callbackDirectory(running.database.admin, running.encryption, "api:other"));
  const task = await startCalling();
  await running.submit(task, {});
  await own.until(() => own.calls.some(isRead));
  expect(other.calls).toEqual([]);
});

test("a change that the address rejects is sent again as the same event, before the later ones", async () => {
  const answers = [400, 500, 429, 302, 204];
  const receiver = await startReceiver((_, count) => answers[count - 1] ?? 204);
  await register(receiver.url);
  await putMessage(running.sql, "message", { sender });
  for (const state of ["SENT", "DELIVERED", "READ"])
    await running.sql`update messaging.message set state = ${state}`;
  await running.start(noPace, {}, { connector: loopback, schedule });
  await receiver.until(() => receiver.calls.some(isRead));
  expect(receiver.statuses("message")).toEqual(["SENT", "SENT", "SENT", "SENT", "SENT", "DELIVERED", "READ"]);
  expect(uniqueIds(receiver.calls).size).toBe(3);
});

test("an address that does not answer delays no other sender's callbacks", async () => {
  const [hanging, receiver] = [await startReceiver(() => "hang"), await startReceiver()];
  await register(hanging.url, callbackDirectory(running.database.admin, running.encryption, "api:other"));
  await register(receiver.url);
  const task = await startCalling();
  await running.submit(task, { sender: "api:other" });
  await hanging.until(() => hanging.calls.length > 0);
  await running.submit(task, {});
  await receiver.until(() => receiver.calls.some(isRead));
  expect(hanging.ended()).toBe(0);
});

test("an event that the address rejects for itself delays no other message's", async () => {
  let refused: string | undefined;
  const receiver = await startReceiver(({ data }) => {
    refused ??= data.id;
    return data.id === refused ? 400 : 204;
  });
  await register(receiver.url);
  const task = await startCalling({ ...schedule, firstSeconds: 1_000, longestOfAddressSeconds: 1_000 });
  await running.submit(task, {});
  await receiver.until(() => refused !== undefined);
  const { id } = await running.submit(task, {});
  await receiver.until(() => receiver.calls.some((call) => isRead(call) && call.data.id === id));
});

test("two secrets sign while one is rotated, and a receiver that knows either accepts the call", async () => {
  const receiver = await startReceiver();
  const first = await register(receiver.url);
  const second = (await directory.rotate(receiver.url, 60_000)) ?? "";
  const task = await startCalling();
  await running.submit(task, {});
  await receiver.until(() => receiver.calls.some(isRead));
  for (const secret of [first, second])
    expect(() => receiver.calls.map((call) => verify(secret, call))).not.toThrow();
});

test("after the overlap only the new secret signs", async () => {
  const receiver = await startReceiver();
  const first = await register(receiver.url);
  await directory.rotate(receiver.url, 0);
  const task = await startCalling();
  await running.submit(task, {});
  await receiver.until(() => receiver.calls.some(isRead));
  for (const call of receiver.calls) expect(() => verify(first, call)).toThrow();
});

test("a change that no attempt in time could deliver is given up, and a replay delivers in order", async () => {
  let isAway = true;
  const receiver = await startReceiver(() => (isAway ? 503 : 204));
  await register(receiver.url);
  const task = await startCalling();
  const { id } = await running.submit(task, {});
  await running.eventually(task, id, "READ");
  await running.database.admin`update messaging.callback_event set retry_until = now()`;
  await expect.poll(() => directory.list()).toMatchObject([{ waiting: 0 }]);
  const undelivered = await directory.listUndelivered(10);
  const states = undelivered.map(({ state }) => state);
  expect(states).toEqual(inOrder(states));
  expect(undelivered[0]).toMatchObject({ messageId: id, lastStatus: 503 });
  const before = receiver.calls.length;
  isAway = false;
  expect(await directory.replay()).toBe(undelivered.length);
  await receiver.until(() => receiver.calls.slice(before).some(isRead));
  expect(receiver.calls.slice(before).map(({ data }) => data.status)).toEqual(states);
  await expect.poll(() => directory.list()).toMatchObject([{ waiting: 0, undelivered: 0, failures: 0 }]);
});

test("an address that is not public is never called", async () => {
  const receiver = await startReceiver();
  await register(receiver.url);
  const task = await running.start(noPace, {}, { schedule });
  await running.untilOpen(task);
  await running.submit(task, {});
  await expect.poll(async () => (await directory.list())[0]?.failures).toBeGreaterThan(1);
  expect(receiver.calls).toEqual([]);
});

test("attempts that fail at the same time count as one failure of their address", async () => {
  const receiver = await startReceiver(() => 503);
  await register(receiver.url);
  const paused = { ...schedule, firstSeconds: 1_000, longestOfAddressSeconds: 1_000 };
  const task = await startCalling({ ...paused, everyMs: 86_400_000 });
  const messages = await Promise.all([1, 2, 3].map(() => running.submit(task, {})));
  for (const { id } of messages) await running.eventually(task, id, "READ");
  await task.stop();
  await startCalling(paused);
  await receiver.until(() => receiver.calls.length === messages.length);
  await expect.poll(async () => (await directory.list())[0]?.lastStatus).toBe(503);
  await expect
    .poll(() => running.database.admin`select from messaging.callback_event where last_status = 503`)
    .toHaveLength(messages.length);
  expect((await directory.list())[0]?.failures).toBe(1);
});

test("an address whose secret another key has encrypted fails, and is not called", async () => {
  const receiver = await startReceiver();
  const other = encryptionWith(secretTable["messenger-key"].mint());
  await register(receiver.url, callbackDirectory(running.database.admin, other, sender));
  const task = await startCalling();
  await running.submit(task, {});
  await expect.poll(async () => (await directory.list())[0]?.failures).toBeGreaterThan(0);
  expect(receiver.calls).toEqual([]);
});

test("an address that answers 404 fails for all events, until a replay tries it at once", async () => {
  let isWrong = true;
  const receiver = await startReceiver(() => (isWrong ? 404 : 204));
  await register(receiver.url);
  const task = await startCalling({ ...schedule, firstSeconds: 1_000, longestOfAddressSeconds: 1_000 });
  await running.submit(task, {});
  await expect.poll(async () => (await directory.list())[0]?.failures).toBe(1);
  isWrong = false;
  await directory.replay();
  await receiver.until(() => receiver.calls.some(isRead));
});

test("an address that answers 410 gets nothing more until it is added again; the sender's other one does", async () => {
  let isGone = true;
  const [gone, other] = [await startReceiver(() => (isGone ? 410 : 204)), await startReceiver()];
  await register(gone.url);
  await register(other.url);
  const task = await startCalling();
  const first = await running.submit(task, {});
  await other.until(() => other.calls.some(isRead));
  await expect
    .poll(async () => (await directory.list()).find(({ url }) => url === gone.url))
    .toMatchObject({ disabledAt: expect.any(Date), waiting: 0, retryAt: null });
  expect(gone.calls).toHaveLength(1);
  expect(textOf(await running.readConsole(task))).toContain("has answered 410 and is disabled");
  await running.sql`update messaging.callback set disabled_at = now() - interval '2 hours' where disabled_at is not null`;
  expect((await readQueue(running.sql))?.callback_seconds).toBeGreaterThanOrEqual(7_200);
  const { id } = await running.submit(task, {});
  await other.until(() => other.calls.some((call) => isRead(call) && call.data.id === id));
  expect([await directory.replay(), gone.calls.length]).toEqual([0, 1]);
  isGone = false;
  await register(gone.url);
  expect(await directory.replay()).toBeGreaterThan(0);
  await gone.until(() => gone.calls.some(({ data }, i) => i > 0 && data.id === first.id));
  expect(gone.statuses(id)).toEqual([]);
});

test("an address says in Retry-After when it is back, and waits an hour at most", async () => {
  const receiver = await startReceiver(() => ({
    status: 503,
    headers: { "retry-after": "Fri, 31 Dec 2199 23:59:59 GMT" },
  }));
  await register(receiver.url);
  const task = await startCalling();
  await running.submit(task, {});
  await expect.poll(async () => (await directory.list())[0]?.failures).toBe(1);
  const [{ retryAt } = { retryAt: null }] = await directory.list();
  const seconds = ((retryAt?.getTime() ?? 0) - Date.now()) / 1_000;
  expect(Math.round(seconds / 60)).toBe(60);
});

test("removing an address removes what waits for it", async () => {
  const receiver = await startReceiver(() => 500);
  await register(receiver.url);
  const task = await startCalling();
  const { id } = await running.submit(task, {});
  await running.eventually(task, id, "READ");
  expect([await directory.remove(receiver.url), await directory.remove(receiver.url)]).toEqual([true, false]);
  expect(await running.sql`select from messaging.callback_event`).toHaveLength(0);
});
