import { expect, onTestFinished, test, vi } from "vitest";
import { describeRejection } from "#lib/channels/codes.ts";
import type { ChannelName } from "#lib/messaging/channel.ts";
import { firstAccount } from "#lib/messenger/account/account.ts";
import { applyReport } from "#lib/messenger/outbox/receipt.ts";
import { settingsOf as cloudSettingsOf } from "../channels/cloud-api/channel-steps.ts";
import { type Behaviour, startPlatform } from "../channels/cloud-api/platform.ts";
import { dialects, settingsOf } from "../channels/sms/dialects.ts";
import { type FailureMode, startGateway } from "../channels/sms/gateway.ts";
import type { Assignment } from "../fleet/assignment.ts";
import { putMessage } from "../fleet/outbox-rows.ts";
import { assign, database, sql, stageEachTest } from "../fleet/running-task.ts";
import { spawnTask } from "../fleet/task.ts";

/** Starts several processes. */
vi.setConfig({ testTimeout: 400_000 });

stageEachTest();

/** Runs a messenger in another process, and a new one each time it is killed, until the test ends. */
const keepRunning = (assignment: Assignment) => {
  let task: ReturnType<typeof spawnTask>;
  let isEnding = false;
  const run = () => {
    task = spawnTask(assignment);
    task.exited.then(() => isEnding || run());
  };
  run();
  onTestFinished(() => {
    isEnding = true;
    return task.kill();
  });
  let kills = 0;
  return {
    kill() {
      kills += 1;
      task.kill();
    },
    kills: () => kills,
  };
};

const count = 12;
const ids = Array.from({ length: count }, (_, n) => `3EB0${String(n).padStart(16, "0")}`);
const phoneOf = (n: number) => `62812000000${10 + n}`;

/** Makes the first account one of a channel, and stores messages to as many phones. */
const putMessages = async (channel: ChannelName) => {
  await database.admin`update messaging.account set channel = ${channel} where id = ${firstAccount}`;
  for (const [n, id] of ids.entries()) await putMessage(sql, id, { phone: phoneOf(n), text: `text ${n}` });
};

const idsIn = async (pattern: string) => {
  const rows = await sql<{ id: string }[]>`
    select id from messaging.message where state ~ ${pattern} order by seq`;
  return rows.map(({ id }) => id);
};
const untilSettled = () =>
  expect.poll(() => idsIn("SENT|UNCERTAIN"), { timeout: 300_000 }).toHaveLength(count);
const report = (id: string) =>
  applyReport(sql, firstAccount, { id, state: "DELIVERED" }, (code) => describeRejection("cloud-api", code));

/** By the number of the request: the gateway has the message, or has not, when the task is killed. */
const failureModes: Readonly<Record<number, FailureMode>> = {
  2: "hangs-after",
  4: "hangs-before",
  7: "resets-after",
  9: "hangs-after",
};

test("a task that is killed while a gateway has its request sends nothing twice, and reports settle what it left", async () => {
  let tasks: ReturnType<typeof keepRunning> | undefined;
  const gateway = await startGateway(dialects.kannel, (request) => {
    const failureMode = failureModes[request] ?? "accepts";
    // once the gateway has read it
    if (failureMode.startsWith("hangs")) setImmediate(() => tasks?.kill());
    return failureMode;
  });
  await putMessages("sms");
  tasks = keepRunning(assign(settingsOf(dialects.kannel, gateway.url, `${gateway.url}/reports?`)));
  await untilSettled();
  const texts = gateway.taken.map(({ text }) => text);
  expect(new Set(texts).size).toBe(texts.length);
  expect([texts.length, tasks.kills()]).toEqual([count - 1, 3]);
  expect(await idsIn("UNCERTAIN")).toHaveLength(4);
  for (const { phone } of gateway.taken) await report(ids[Number(phone.slice(-2)) - 10] ?? "");
  expect([(await idsIn("DELIVERED")).length, (await idsIn("UNCERTAIN")).length]).toEqual([count - 1, 1]);
});

test("a task that is killed while the Cloud API has its request sends nothing twice, and statuses settle what it left", async () => {
  const cloud = await startPlatform();
  let tasks: ReturnType<typeof keepRunning> | undefined;
  const kill: Behaviour = {
    before: () => {
      tasks?.kill();
      return new Promise(() => {});
    },
  };
  cloud.state.messages = ["take", kill, "take", { reset: true, accepted: true }, kill, "take", kill, "take"];
  await putMessages("cloud-api");
  tasks = keepRunning(assign(cloudSettingsOf(cloud)));
  await untilSettled();
  const inboxes = ids.map((_, n) => cloud.at(phoneOf(n)).map(({ id }) => id));
  expect(inboxes).toEqual(ids.map((id) => [id]));
  expect(tasks.kills()).toBe(3);
  expect(await idsIn("UNCERTAIN")).toHaveLength(4);
  for (const id of ids) await report(id);
  expect(await idsIn("DELIVERED")).toEqual(ids);
});
