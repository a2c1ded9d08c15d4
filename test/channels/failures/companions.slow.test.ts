import { expect, test } from "vitest";
import type { FailureModes } from "../../../infra/local/whatsapp/behaviour.ts";
import {
  eventually,
  metricsOf,
  phone,
  platform,
  stageEachTest,
  startOpen,
  submit,
} from "../../fleet/running-task.ts";
import { expectShown, isRead } from "./expect-shown.ts";

stageEachTest();

const read = { receipts: ["delivered", "read"] } satisfies FailureModes;

test("a companion that is linked between two messages receives the second", async () => {
  const task = await startOpen();
  await eventually(task, (await submit(task, {})).id, "READ");
  const companion = platform.linkCompanion(phone);
  await platform.until(() => platform.unacknowledged === 0);
  const { id } = await submit(task, {});
  await eventually(task, id, "READ");
  await expect.poll(() => companion.find(id)).toBeDefined();
  expect([platform.phone(phone).inbox.length, companion.failures]).toEqual([2, []]);
});

test.each([
  ["the recipient's", "absent"],
  ["the recipient's", "error"],
  ["the account's", "absent"],
  ["the account's", "error"],
] as const)("%s companion that has no keys (%s) delays no message", async (whose, answer) => {
  const task = await startOpen();
  platform.behave({ ...read, keyless: { of: "companions", answer } });
  const isRecipients = whose === "the recipient's";
  const companion = platform.linkCompanion(isRecipients ? phone : platform.account.number);
  await platform.until(() => platform.unacknowledged === 0);
  await eventually(task, (await submit(task, {})).id, "READ");
  await expect.poll(() => metricsOf(task)).toEqual({ sent: 1 });
  platform.behave(read);
  const { id } = await submit(task, {});
  await eventually(task, id, "READ");
  // a recipient's devices are queried again for the next message
  if (isRecipients) await expect.poll(() => companion.find(id)).toBeDefined();
  expect(platform.phone(phone).inbox).toHaveLength(2);
});

test.each(["the recipient's", "the account's"])(
  "%s companion that is unlinked between two messages gets no copy of the second, which leaves once",
  async (whose) => {
    const task = await startOpen();
    const owner = whose === "the account's" ? platform.account.number : phone;
    const companion = platform.linkCompanion(owner);
    const first = await submit(task, {});
    await eventually(task, first.id, "READ");
    expect(companion.find(first.id)).toBeDefined();
    platform.unlinkCompanion(companion);
    await platform.until(() => platform.unacknowledged === 0);
    const { id } = await submit(task, {});
    await eventually(task, id, "READ");
    // a frame with a copy for it would be answered with 479
    expect([platform.arrivalsOf(id), companion.find(id)]).toEqual([1, undefined]);
  },
);

test.each(["the recipient's", "the account's"])(
  "%s companion that was unlinked in the meantime is removed from the message after code 479",
  async (whose) => {
    const task = await startOpen();
    const owner = whose === "the account's" ? platform.account.number : phone;
    const companion = platform.linkCompanion(owner);
    const first = await submit(task, {});
    await eventually(task, first.id, "READ");
    expect(companion.find(first.id)).toBeDefined();
    platform.unlinkCompanion(companion, false);
    await expectShown(task, (await submit(task, {})).id, isRead(2, { sent: 2, retried: 1 }));
  },
);
