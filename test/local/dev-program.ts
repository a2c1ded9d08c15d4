import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { afterAll, expect } from "vitest";
import { destroyServer } from "../../infra/local/postgres/server.ts";
import { makeCheckout } from "../steps/checkout.ts";

/** `npm run dev` in a separate checkout for one test file, stopped after it. */
export const useDevProgram = () => {
  const checkout = makeCheckout();
  const folder = `${checkout.folder}/.local`;
  const children: ChildProcess[] = [];

  const stopAll = async () => {
    for (const child of children.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const exit = once(child, "exit");
      child.kill("SIGKILL");
      await exit;
    }
    await destroyServer(`${folder}/postgres`);
  };
  afterAll(async () => {
    await stopAll();
    checkout.remove();
  });

  /** Where it is, as it wrote down. */
  const devFile = () => JSON.parse(readFileSync(`${folder}/dev.json`, "utf8"));
  const start = (...args: string[]) => {
    const child = spawn(
      process.execPath,
      [checkout.devProgram, "--folder", folder, "--residents", "30", ...args],
      {
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    children.push(child);
    return child;
  };
  /** Resolves once it has printed its addresses. @throws Error with its output when it ends instead. */
  const startReady = async (...args: string[]) => {
    const child = start(
      ...["port", "messaging-port", "console-port", "platform-port"].flatMap((name) => [`--${name}`, "0"]),
      ...args,
    );
    const said: string[] = [];
    let printed = "";
    await new Promise<void>((resolve, reject) => {
      child.stderr?.on("data", (chunk) => said.push(String(chunk)));
      child.stdout?.on("data", (chunk) => {
        printed += chunk;
        if (printed.includes("Ctrl-C stops")) resolve();
      });
      child.once("exit", () => reject(new Error(said.join(""))));
    });
    return child;
  };
  const serverPid = () => Number(readFileSync(`${folder}/postgres/postmaster.pid`, "utf8").split("\n")[0]);
  const isAlive = (pid: number) => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  const listResidents = async () => {
    const { baseUrl, apiKey } = devFile();
    const ask = () => fetch(`${baseUrl}/v1/penduduk`, { method: "POST", headers: { apikey: apiKey } });
    // on a busy machine the first connections to the database take longer than a function's 2.6 s: it answers 500
    await expect.poll(async () => (await ask()).status, { timeout: 180_000 }).toBe(200);
    return (await (await ask()).json()) as { total: number };
  };
  return { checkout, folder, devFile, start, startReady, stopAll, serverPid, isAlive, listResidents };
};
