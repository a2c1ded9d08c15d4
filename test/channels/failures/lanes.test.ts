import { expect, test } from "vitest";
import type { Accepted } from "#lib/messaging/submission.ts";
import { noPace } from "#lib/messenger/send/pace.ts";
import type { Task } from "#lib/messenger/task.ts";
import type { FailureModes } from "../../../infra/local/whatsapp/behaviour.ts";
import {
  eventually,
  phone,
  platform,
  stageEachTest,
  start,
  stateOf,
  submit,
  untilOpen,
  upload,
} from "../../fleet/running-task.ts";
import { photo } from "../pictures.ts";

stageEachTest();

const other = "6281200000002";
const third = "6281200000003";
/** Longer than a test. */
const foreverMs = 600_000;

const startOpen = async () => {
  for (const number of [other, third]) platform.register(number);
  const task = await start(noPace, { answerTimeoutMs: foreverMs });
  await untilOpen(task);
  return task;
};

const image = async (task: Task, submission: Record<string, unknown> = {}): Promise<string> => {
  const { status, json } = await upload(task, { kind: "image", ...submission }, await photo());
  expect(status).toBe(201);
  return (json as Accepted).id;
};
const words = async (task: Task, submission: Record<string, unknown> = {}) =>
  (await submit(task, submission)).id;

const untilSending = (task: Task, id: string) => eventually(task, id, "SENDING");

interface FailureMode {
  readonly failureMode: string;
  readonly behaviour: FailureModes;
  readonly slow: (task: Task) => Promise<string>;
  /** Of the slow message, that left while the code arrived. */
  readonly frames: number;
}
const slowAck = { slowNumber: { to: phone, ackDelayMs: foreverMs } };

test.each<FailureMode>([
  { failureMode: "never answers an upload", behaviour: { mediaDelayMs: foreverMs }, slow: image, frames: 0 },
  {
    failureMode: "does not answer for the keys of one number",
    behaviour: { silentKeysOf: phone },
    slow: words,
    frames: 0,
  },
  { failureMode: "does not acknowledge a text to one number", behaviour: slowAck, slow: words, frames: 1 },
  { failureMode: "does not acknowledge an image to one number", behaviour: slowAck, slow: image, frames: 1 },
  {
    failureMode: "does not acknowledge a code to one number",
    behaviour: slowAck,
    slow: (task) => words(task, { class: "one-time-code" }),
    frames: 1,
  },
])("a code arrives although the platform $failureMode", async ({ behaviour, slow, frames }) => {
  const task = await startOpen();
  platform.behave(behaviour);
  const id = await slow(task);
  await untilSending(task, id);
  await platform.until(() => platform.arrivalsOf(id) === frames);
  const codes = [
    await words(task, { phone: other, class: "one-time-code" }),
    await words(task, { phone: third, class: "one-time-code" }),
  ];
  for (const code of codes) await eventually(task, code, "DELIVERED");
  expect([(await stateOf(task, id)).status, platform.arrivalsOf(id)]).toEqual(["SENDING", frames]);
  expect(codes.map((code) => platform.arrivalsOf(code))).toEqual([1, 1]);
});

test("texts to other numbers arrive while an upload gets no answer", async () => {
  const task = await startOpen();
  platform.behave({ mediaDelayMs: foreverMs });
  const id = await image(task);
  await untilSending(task, id);
  await eventually(task, await words(task, { phone: other, class: "bulk" }), "DELIVERED");
  expect((await stateOf(task, id)).status).toBe("SENDING");
});

test("messages to one number arrive in the order of acceptance, whichever of them take long to upload", async () => {
  const task = await startOpen();
  platform.behave({ mediaDelayMs: 300 });
  const ids: string[] = [];
  for (const text of ["1", "3", "5"]) {
    ids.push(await image(task, { text }), await words(task, { text: String(Number(text) + 1) }));
    await words(task, { phone: other });
  }
  for (const id of ids) await eventually(task, id, "DELIVERED");
  expect(platform.phone(phone).inbox.map(({ id }) => id)).toEqual(ids);
  expect(ids.map((id) => platform.arrivalsOf(id))).toEqual(ids.map(() => 1));
});
