import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { callbackDirectory } from "#lib/messenger/callback/callback-admin.ts";
import { encryptionWith } from "#lib/messenger/outbox/encryption.ts";
import { secretTable } from "#lib/secrets/table/table.ts";
import { startReceiver } from "../../fleet/callback-receiver.ts";
import { createMessengerDatabase } from "../../fleet/messenger-database.ts";
import { putMessage } from "../../fleet/outbox-rows.ts";
import type { Assignment } from "./callback-process.ts";

const source = fileURLToPath(new URL("callback-process.ts", import.meta.url));
const sender = "api:test";
const messages = 12;
const changes = ["SENT", "DELIVERED", "READ"];
/** The outage, in attempts. */
const away = 25;
/** A task is killed while the receiver handles these calls, of which it then gets no answer. */
const deadly = [3, 40, 50];

test("every change arrives, in order for each message, when the receiver was away and tasks were killed", async () => {
  const database = await createMessengerDatabase();
  const encryptionKey = secretTable["messenger-key"].mint();
  const assignment: Assignment = {
    ...{ databaseUrl: database.url, encryptionKey },
    schedule: {
      ...{ everyMs: 20, leaseSeconds: 0.5 },
      ...{ firstSeconds: 0.01, longestSeconds: 0.05, longestOfAddressSeconds: 0.05 },
    },
  };
  let task: ChildProcess | undefined;
  const startTask = () => {
    task = spawn(process.execPath, [source, JSON.stringify(assignment)], { stdio: "ignore" });
  };
  onTestFinished(() => void task?.kill("SIGKILL"));
  const accepted: string[] = [];
  const receiver = await startReceiver(({ data }, count) => {
    if (deadly.includes(count)) {
      task?.kill("SIGKILL");
      startTask();
      return "hang";
    }
    if (count <= away) return 503;
    accepted.push(`${data.id} ${data.status}`);
    return 204;
  });
  await callbackDirectory(database.admin, encryptionWith(encryptionKey), sender).add(receiver.url);
  const ids = Array.from({ length: messages }, (_, i) => `message-${i}`);
  for (const id of ids) await putMessage(database.sql, id, { sender });
  for (const state of changes) await database.sql`update messaging.message set state = ${state}`;
  startTask();
  await receiver.until(() => new Set(accepted).size === messages * changes.length);
  for (const id of ids) {
    const firsts = [...new Set(accepted.filter((one) => one.startsWith(`${id} `)))];
    expect(firsts).toEqual(changes.map((state) => `${id} ${state}`));
  }
  await expect.poll(() => database.sql`select from messaging.callback_event`).toHaveLength(0);
});
