import { beforeEach, expect, test } from "vitest";
import type { BusSettings } from "#lib/messenger/callback/bus.ts";
import { callbackDirectory } from "#lib/messenger/callback/directory.ts";
import { noPace } from "#lib/messenger/send/pace.ts";
import * as running from "../../fleet/running-task.ts";
import { loopback } from "../../steps/loopback.ts";
import { putMessage } from "../outbox/outbox-rows.ts";
import { type Put, startEventBridge } from "./event-bridge.ts";
import { startReceiver } from "./receiver.ts";

running.stageEachTest();

const sender = "api:test";
const bus = "city-events";
const schedule = {
  ...{ everyMs: 20, leaseSeconds: 60 },
  ...{ firstSeconds: 0.05, longestSeconds: 0.2, longestOfAddressSeconds: 0.2 },
};
const changes = ["SENT", "DELIVERED", "READ"];

let directory: ReturnType<typeof callbackDirectory>;
beforeEach(async () => {
  directory = callbackDirectory(running.database.admin, running.encryption, sender);
  await directory.addBus(bus);
});

const startPutting = (buses: BusSettings) =>
  running.start(noPace, {}, { connector: loopback, buses, schedule });

/** A message with three changes, of which no task has put any. */
const changeMessage = async () => {
  await putMessage(running.sql, "message", { sender });
  for (const state of changes) await running.sql`update messaging.message set state = ${state}`;
};

const isRead = ({ detail }: Put) => detail.status === "READ";
const statusesOf = (puts: readonly Put[]) => puts.map(({ detail }) => detail.status);

test("each change of a message's state is put on its sender's bus in order, with what rules filter by", async () => {
  const { settings, puts, until } = await startEventBridge();
  const task = await startPutting(settings);
  await running.untilOpen(task);
  const { id } = await running.submit(task, {});
  await until(() => puts.some(isRead));
  const statuses = statusesOf(puts);
  expect(statuses).toEqual(changes.filter((status) => statuses.includes(status)));
  expect(new Set(puts.map(({ detail }) => detail.event_id)).size).toBe(puts.length);
  const { event_id, ...detail } = puts.at(-1)?.detail ?? expect.fail("nothing was put");
  const state = await running.stateOf(task, id);
  expect(event_id).toMatch(/^evt_[\da-f-]{36}$/);
  expect(detail).toEqual({ ...state, sender: "test" });
  expect(puts.at(-1)).toMatchObject({
    ...{ bus, source: "municipal.messaging", detailType: "message.state" },
    time: Date.parse(state.changed_at) / 1_000,
  });
  expect(JSON.stringify(puts)).not.toContain(running.phone);
  await expect.poll(() => directory.list()).toMatchObject([{ waiting: 0, dead: 0, failures: 0 }]);
});

test("what EventBridge has not confirmed is put again as the same event, before the later ones", async () => {
  const answers = [
    ...[{ entry: "InternalFailure" }, { entry: "ThrottlingException" }, { request: "ThrottlingException" }],
    ...[{ request: "AccessDeniedException" }, "break"],
  ] as const;
  const { settings, puts, until } = await startEventBridge((_, count) => answers[count - 1] ?? "accept");
  await changeMessage();
  await startPutting(settings);
  await until(() => puts.some(isRead));
  expect(statusesOf(puts)).toEqual([...answers.map(() => "SENT"), ...changes]);
  expect(new Set(puts.map(({ detail }) => detail.event_id)).size).toBe(changes.length);
});

test("a bus that hangs does not delay the callbacks of the same sender", async () => {
  const [{ settings, puts, until }, receiver] = [await startEventBridge(() => "hang"), await startReceiver()];
  await directory.add(receiver.url);
  await changeMessage();
  await startPutting(settings);
  await receiver.until(() => receiver.calls.length === changes.length);
  await until(() => puts.length > 0);
  expect(receiver.statuses("message")).toEqual(changes);
  expect(statusesOf(puts)).toEqual(["SENT"]);
});

test("a change that no bus accepted in time is a dead letter, which a replay puts in order", async () => {
  let isAllowed = false;
  const { settings, puts, until } = await startEventBridge(() =>
    isAllowed ? "accept" : { request: "AccessDeniedException" },
  );
  await changeMessage();
  await startPutting(settings);
  await until(() => puts.length > 1);
  await running.database.admin`update messaging.callback_event set retry_until = now()`;
  await expect
    .poll(() => directory.list())
    .toMatchObject([{ url: `eventbridge:${bus}`, waiting: 0, dead: 3 }]);
  const [first, ...others] = await directory.listDead(10);
  expect(first).toMatchObject({ messageId: "message", state: "SENT", lastStatus: 400 });
  expect(others).toHaveLength(2);
  const before = puts.length;
  isAllowed = true;
  expect(await directory.replay()).toBe(3);
  await until(() => puts.slice(before).some(isRead));
  expect(statusesOf(puts.slice(before))).toEqual(changes);
});

test("without credentials nothing is put, and the bus fails like an address that does not answer", async () => {
  const { settings, puts } = await startEventBridge();
  const credentials = () => Promise.reject(new Error("no answer of the container's agent"));
  await changeMessage();
  await startPutting({ ...settings, credentials });
  await expect.poll(async () => (await directory.list())[0]?.failures).toBeGreaterThan(1);
  expect(puts).toEqual([]);
});
