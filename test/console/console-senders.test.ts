import { expect, test } from "vitest";
import { callbackDirectory } from "#lib/messenger/callback/callback-admin.ts";
import { noPace } from "#lib/messenger/send/pace.ts";
import { senderDirectory } from "#lib/sender/sender-admin.ts";
import { startReceiver } from "../fleet/callback-receiver.ts";
import * as running from "../fleet/running-task.ts";
import { loopback } from "../steps/loopback.ts";
import { textOf } from "../steps/page-text.ts";

running.stageEachTest();

const schedule = {
  ...{ everyMs: 20, leaseSeconds: 60 },
  ...{ firstSeconds: 0.05, longestSeconds: 0.1, longestOfAddressSeconds: 0.1 },
};

test("the console of a running task shows what a sender has sent and which callbacks fail, and no secret", async () => {
  const receiver = await startReceiver(() => 503);
  const { admin } = running.database;
  const credential = await senderDirectory(admin).add("test", new Date("2031-05-06T00:00:00Z"));
  await senderDirectory(admin).limit("test", {
    classes: ["transactional"],
    perDay: 50,
    bytesPerDay: 2_000_000,
  });
  const directory = callbackDirectory(admin, running.encryption, "api:test");
  const secret = await directory.add(`${receiver.url}?token=hidden`);
  const task = await running.start(noPace, {}, { connector: loopback, schedule });
  const { id } = await running.submit(task, {});
  expect((await running.ask(task, `/messages/${id}?sender=api:test`, { method: "DELETE" })).status).toBe(200);
  await receiver.until(() => receiver.calls.length > 1);
  const page = await running.readConsole(task);
  const shown = textOf(page);
  expect(shown).toContain("test transactional 1 of 50 0 MB of 2 MB 1 active, the last until 6 May 2031");
  expect(shown).toMatch(
    new RegExp(`${new URL(receiver.url).host} test failed \\d+ times in a row: 503 1 the oldest`),
  );
  for (const hidden of ["token=", "/status", "whsec_", secret, credential.password, credential.id])
    expect(page).not.toContain(hidden);
  await admin`update messaging.callback_event set retry_until = now()`;
  await expect
    .poll(async () => textOf(await running.readConsole(task)))
    .toContain("1 npm run city -- callback replay test");
});
