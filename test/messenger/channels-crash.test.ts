import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { firstAccount } from "#lib/messenger/account/account.ts";
import { describeRefusal } from "#lib/messenger/channels/platform-codes.ts";
import { applyReport } from "#lib/messenger/outbox/report.ts";
import { putMessage } from "./outbox/outbox-rows.ts";
import type { Assignment } from "./reply/reply-process.ts";
import { database, encryptionKey, pepper, platform, sql, stageEachTest } from "./running-task.ts";
import { dialects, settingsOf } from "./sms/dialects.ts";
import { type Mood, startGateway } from "./sms/gateway.ts";

stageEachTest();

const file = fileURLToPath(new URL("reply/reply-process.ts", import.meta.url));

/** Runs a messenger in another process, and a new one each time it is killed, until the test ends. */
const keepRunning = (assignment: Assignment) => {
  let child: ReturnType<typeof spawn>;
  let isEnding = false;
  const run = () => {
    child = spawn(process.execPath, [file, JSON.stringify(assignment)], { stdio: "ignore" });
    child.once("exit", () => isEnding || run());
  };
  run();
  onTestFinished(async () => {
    isEnding = true;
    child.kill("SIGKILL");
    await once(child, "exit");
  });
  return { kill: () => void child.kill("SIGKILL") };
};

const count = 12;
/** By the number of the request: the gateway has the message, or has not, when the task is killed. */
const moods: Readonly<Record<number, Mood>> = {
  2: "hangs-after",
  4: "hangs-before",
  7: "resets-after",
  9: "hangs-after",
};

test("a task that is killed while a gateway has its request sends nothing twice, and reports settle what it left", async () => {
  let tasks: ReturnType<typeof keepRunning> | undefined;
  const kills: number[] = [];
  const gateway = await startGateway(dialects.kannel, (request) => {
    const mood = moods[request] ?? "accepts";
    if (mood.startsWith("hangs")) {
      kills.push(request);
      // once the gateway has read it
      setImmediate(() => tasks?.kill());
    }
    return mood;
  });
  await database.admin`update messaging.account set channel = 'sms' where id = ${firstAccount}`;
  const ids = Array.from({ length: count }, (_, n) => `3EB0${String(n).padStart(16, "0")}`);
  for (const [n, id] of ids.entries())
    await putMessage(sql, id, { phone: `62812000000${10 + n}`, text: `text ${n}` });
  const { url, rootKey, mediaCa, versionUrl } = platform;
  tasks = keepRunning({
    ...{ databaseUrl: database.url, encryptionKey, pepper },
    settings: { url, mediaCa, versionUrl, rootKey: rootKey.toString("base64") },
    channel: settingsOf(dialects.kannel, gateway.url, `${gateway.url}/reports?`),
  });
  const states = () =>
    sql<{ id: string; state: string }[]>`select id, state from messaging.message order by seq`;
  await expect
    .poll(async () => (await states()).filter(({ state }) => !/SENT|UNCERTAIN/.test(state)), {
      timeout: 60_000,
    })
    .toEqual([]);
  expect(kills.length).toBeGreaterThanOrEqual(3);
  const texts = gateway.taken.map(({ text }) => text);
  expect(new Set(texts).size).toBe(texts.length);
  expect(texts.length).toBe(count - 1);
  const uncertain = (await states()).filter(({ state }) => state === "UNCERTAIN");
  expect(uncertain).toHaveLength(4);
  for (const { phone } of gateway.taken) {
    const id = ids[Number(phone.slice(-2)) - 10] ?? "";
    await applyReport(sql, firstAccount, { id, state: "DELIVERED" }, describeRefusal);
  }
  const left = (await states()).filter(({ state }) => state !== "DELIVERED");
  expect(left.map(({ state }) => state)).toEqual(["UNCERTAIN"]);
});
