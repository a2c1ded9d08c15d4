import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startServer } from "../../infra/local/postgres/server.ts";

test("the processes of a killed run end, also a suspended database, and its folder is deleted", async () => {
  const folder = mkdtempSync(join(tmpdir(), "run-"));
  chmodSync(folder, 0o711);
  mkdirSync(`${folder}/city`, { mode: 0o711 });
  const server = await startServer({
    ...{ folder: `${folder}/city/postgres`, superuserPassword: "invented", durable: false },
  });
  onTestFinished(() => server.stop("immediate"));
  const pid = server.pid();
  const guardian = spawn(process.execPath, ["test/steps/guardian.ts", folder], {
    stdio: ["pipe", "ignore", "inherit"],
  });
  process.kill(pid, "SIGSTOP");
  // as when the process that holds the other end is killed
  guardian.stdin.end();
  expect(await once(guardian, "exit")).toEqual([0, null]);
  expect(existsSync(folder)).toBe(false);
  expect(() => process.kill(pid, 0)).toThrow("ESRCH");
});
