import { expect, test } from "vitest";
import { noPace } from "#lib/messenger/send/pace.ts";
import type { Task } from "#lib/messenger/task.ts";
import type { FailureModes } from "../../../infra/local/whatsapp/behaviour.ts";
import {
  eventually,
  phone,
  platform,
  readConsole,
  sql,
  stageEachTest,
  start,
  submit,
  untilOpen,
  upload,
} from "../../fleet/running-task.ts";
import { photo } from "../pictures.ts";

stageEachTest();

const friend = "6281200000002";
const other = "6281200000003";

interface FailureMode {
  readonly failureMode: string;
  readonly behaviour: FailureModes;
  readonly service: "directory" | "media";
  readonly waiting: (task: Task, to: string) => Promise<string>;
  readonly shown: RegExp;
}

const failureModes: readonly FailureMode[] = [
  {
    failureMode: "the platform fails to answer for numbers",
    behaviour: { failDirectory: true },
    service: "directory",
    waiting: async (task, to) => (await submit(task, { phone: to })).id,
    shown: /does not answer for numbers and devices/,
  },
  {
    failureMode: "all media hosts fail",
    behaviour: { mediaHosts: [503, "unreachable"] },
    service: "media",
    waiting: async (task, to) => {
      const { json } = await upload(task, { kind: "image", phone: to }, await photo());
      return (json as { id: string }).id;
    },
    shown: /media servers accept no uploads/,
  },
];

test.each(failureModes)(
  "while $failureMode, no message fails that needs it, others arrive, and the console says so",
  async ({ behaviour, service, waiting, shown }) => {
    for (const number of [friend, other]) platform.register(number);
    // longer than the sender rests when it has nothing to do, or the first message would always be tried first
    const task = await start({ ...noPace, retryMs: [600, 600] });
    await untilOpen(task);
    await eventually(task, (await submit(task, { phone: friend })).id, "READ");
    platform.behave(behaviour);
    const ids = [await waiting(task, phone), await waiting(task, other)];
    const leastFailures = () => sql`
      select from messaging.message where (rejections ->> ${service})::int > 5 and state in ('PENDING', 'SENDING')`;
    await expect.poll(async () => (await leastFailures()).length, { timeout: 60_000 }).toBe(2);
    await eventually(task, (await submit(task, { phone: friend })).id, "DELIVERED");
    expect(await readConsole(task)).toMatch(shown);
    platform.behave({});
    for (const id of ids) await eventually(task, id, "DELIVERED");
    await expect.poll(() => readConsole(task)).not.toMatch(shown);
    expect(ids.map((id) => platform.arrivalsOf(id))).toEqual([1, 1]);
  },
);
