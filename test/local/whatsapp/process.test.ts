import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { citizen, runPlatform } from "./whatsapp-client.ts";

const program = fileURLToPath(new URL("./client-process.ts", import.meta.url));

/** Runs a client that sends one text, until it has. */
const runClient = async (...args: string[]): Promise<ChildProcess> => {
  const client = spawn(process.execPath, [program, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void client.kill("SIGKILL"));
  await once(client.stdout ?? client, "data");
  return client;
};

test("a client whose process was killed logs in again, and the same phone reads what it sends", async () => {
  const platform = await runPlatform();
  const folder = mkdtempSync(join(tmpdir(), "client-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const first = await runClient(platform.controlUrl, folder, citizen, "before");
  first.kill("SIGKILL");
  await platform.until(() => platform.sockets.open === 0);
  await runClient(platform.controlUrl, folder, citizen, "after");
  const phone = platform.phone(citizen);
  await platform.until(() => phone.inbox.length === 2);
  expect(phone.inbox.map(({ text }) => text)).toEqual(["before", "after"]);
  expect(phone.inbox[1]?.from).toBe(phone.inbox[0]?.from);
  expect(phone.failures).toEqual([]);
  expect(platform.faults).toEqual([]);
  expect(platform.sockets).toMatchObject({ open: 1, loggedIn: 1, mostLoggedIn: 1, everOpened: 3 });
});
