import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import {
  database,
  encryptionKey,
  pepper,
  phone,
  platform,
  stageEachTest,
  start,
  startOpen,
  untilOpen,
} from "../../fleet/running-task.ts";
import { untilBlocked } from "../blocked-connections.ts";
import { holdNextWrite } from "../next-write.ts";
import type { Assignment } from "./reply-process.ts";
import { isOut, listReplies, untilHandled, untilTexts } from "./reply-steps.ts";

stageEachTest();

const file = fileURLToPath(new URL("reply-process.ts", import.meta.url));

/** Starts a messenger in another process, linked as the one in this process was. */
const spawnLinked = async () => {
  await (await startOpen()).stop();
  const { url, rootKey, mediaCa, versionUrl } = platform;
  const assignment: Assignment = {
    ...{ databaseUrl: database.url, encryptionKey, pepper },
    settings: { url, mediaCa, versionUrl, rootKey: rootKey.toString("base64") },
  };
  const child = spawn(process.execPath, [file, JSON.stringify(assignment)], { stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  await platform.until(() => platform.sockets.loggedIn === 1);
  return {
    kill: async () => {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
};

test("a task that is killed before the opt-out is stored has not acknowledged STOP, and the next one follows it", async () => {
  const { kill } = await spawnLinked();
  const reserved = await database.admin.reserve();
  await reserved`begin`;
  await reserved`lock table notification.opt_out in exclusive mode`;
  await platform.write(phone, "stop");
  await untilBlocked(database.connect(1));
  expect(platform.unacknowledged).toBe(1);
  await kill();
  await reserved`rollback`;
  reserved.release();
  expect([await isOut(), await listReplies()]).toEqual([false, []]);
  await untilOpen(await start());
  await untilHandled();
  expect(await isOut()).toBe(true);
  expect(await untilTexts(1)).toHaveLength(1);
});

test("a task that is killed after the opt-out is stored and before STOP is acknowledged has confirmed it once", async () => {
  const { kill } = await spawnLinked();
  const held = await holdNextWrite(database, { table: "auth_key", when: "new.type = 'session'" });
  await platform.write(phone, "stop");
  await held.untilWaiting();
  expect([platform.unacknowledged, await isOut()]).toEqual([1, true]);
  await kill();
  await held.release();
  await untilOpen(await start());
  await untilHandled();
  expect(await untilTexts(1)).toHaveLength(1);
  expect(await listReplies()).toHaveLength(1);
});
