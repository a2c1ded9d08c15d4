import { expect, test } from "vitest";
import type { MessagePage } from "#lib/messaging/submission.ts";
import { setPaused } from "#lib/messenger/outbox/depth.ts";
import { noPace, type Pace } from "#lib/messenger/send/pace.ts";
import type { Task } from "#lib/messenger/task.ts";
import {
  ask,
  eventually,
  platform,
  sql,
  stageEachTest,
  start,
  stateOf,
  submit,
  untilKind,
  untilOpen,
  upload,
} from "../../fleet/running-task.ts";

stageEachTest();

const startOpenAt = async (pace: Partial<Pace>) => {
  const task = await start({ ...noPace, ...pace });
  await untilOpen(task);
  // another task reads it there
  const connected = () => sql`select from messaging.account where number is not null and down_since is null`;
  await expect.poll(connected).toHaveLength(1);
  return task;
};
const reasonOf = async (task: Task, id: string) => (await stateOf(task, id)).waiting_for;
const list = async (task: Task): Promise<MessagePage["messages"]> =>
  ((await ask(task, "/messages?sender=api:test&limit=100")).json as MessagePage).messages;
const hour = 3_600_000;
const inAnHour = () => new Date(Date.now() + hour).toISOString();

test("a message waits for an account that is connected, and for nothing once it is sent", async () => {
  const task = await start();
  const { id } = await submit(task, {});
  expect(await reasonOf(task, id)).toBe("account_not_connected");
  await untilOpen(task);
  await eventually(task, id, "READ");
  expect(await stateOf(task, id)).not.toHaveProperty("waiting_for");
  platform.behave({ loginFailure: { code: 503 } });
  platform.disconnect("drop");
  await untilKind(task, "closed");
  const next = await submit(task, {});
  await expect.poll(() => reasonOf(task, next.id)).toBe("account_not_connected");
});

test("one for later waits for its time, which is given, whatever else holds it up", async () => {
  const task = await start();
  await setPaused(sql, true);
  const at = inAnHour();
  const { id } = await submit(task, { send_at: at });
  expect(await stateOf(task, id)).toMatchObject({ waiting_for: "scheduled", not_before: at });
});

test("one that was tried waits for its next attempt, whose time is given", async () => {
  const task = await startOpenAt({});
  await setPaused(sql, true);
  const { id } = await submit(task, {});
  const at = inAnHour();
  await sql`update messaging.message set not_before = ${at}, epoch = 1 where id = ${id}`;
  await setPaused(sql, false);
  expect(await stateOf(task, id)).toMatchObject({ waiting_for: "retry", not_before: at });
});

test("a list says of each message that waits why, and of no other", async () => {
  const task = await startOpenAt({ perHour: 1 });
  const { id } = await submit(task, {});
  await eventually(task, id, "READ");
  await submit(task, {});
  await submit(task, { send_at: inAnHour() });
  const reasons = (await list(task)).map(({ status, waiting_for }) => [status, waiting_for]);
  expect(reasons).toEqual([
    ["READ", undefined],
    ["PENDING", "pace"],
    ["PENDING", "scheduled"],
  ]);
  await setPaused(sql, true);
  expect((await list(task)).map(({ waiting_for }) => waiting_for)).toEqual([
    undefined,
    "paused",
    "scheduled",
  ]);
});

test("the task that leads the account knows its limit of new contacts; another one says that the pace holds it up", async () => {
  const leader = await startOpenAt({ newContactsPerDay: 0 });
  const { id } = await submit(leader, {});
  await expect.poll(() => reasonOf(leader, id)).toBe("new_contact_limit");
  expect(await reasonOf(await start(), id)).toBe("pace");
  // it may be sent by an account that this task does not lead
  await sql`insert into messaging.account (name, number) values ('second', '6281100000002')`;
  expect(await reasonOf(leader, id)).toBe("pace");
});

test("the task that leads the account knows an outage of the platform's media; another one says when it is tried again", async () => {
  const leader = await startOpenAt({ retryMs: [hour, hour] });
  platform.behave({ mediaHosts: [503] });
  const { json } = await upload(leader, { kind: "file" }, Buffer.from("a letter"));
  const { id } = json as { id: string };
  await expect.poll(() => reasonOf(leader, id)).toBe("platform_outage");
  expect(await stateOf(await start(), id)).toMatchObject({
    waiting_for: "retry",
    not_before: expect.stringMatching(/Z$/),
  });
});
