import { expect, onTestFinished, test } from "vitest";
import { untilBlocked } from "../../fleet/blocked-connections.ts";
import { holdNextWrite } from "../../fleet/next-write.ts";
import {
  assign,
  database,
  phone,
  platform,
  stageEachTest,
  start,
  startOpen,
  untilOpen,
} from "../../fleet/running-task.ts";
import { spawnTask } from "../../fleet/task.ts";
import { isOut, listReplies, untilHandled, untilTexts } from "./reply-steps.ts";

stageEachTest();

/** Starts a messenger in another process, linked as the one in this process was. */
const spawnLinked = async () => {
  await (await startOpen()).stop();
  const task = spawnTask(assign());
  onTestFinished(task.kill);
  await platform.until(() => platform.sockets.loggedIn === 1);
  return task;
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
