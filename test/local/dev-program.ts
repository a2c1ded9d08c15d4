import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { afterAll } from "vitest";
import { destroyServer } from "../../infra/local/postgres/server.ts";
import { makeCheckout } from "../steps/checkout.ts";

/** `npm run dev` in a separate checkout for one test file, stopped after it. */
export const useDevProgram = () => {
  const checkout = makeCheckout();
  const folder = `${checkout.folder}/.local`;
  const children: ChildProcess[] = [];

  afterAll(async () => {
    for (const child of children) child.kill("SIGKILL");
    await destroyServer(`${folder}/postgres`);
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
    await new Promise<void>((resolve, reject) => {
      child.stderr?.on("data", (chunk) => said.push(String(chunk)));
      child.stdout?.on("data", (chunk) => String(chunk).includes("Ctrl-C stops") && resolve());
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
    const response = await fetch(`${baseUrl}/v1/penduduk`, { method: "POST", headers: { apikey: apiKey } });
    return (await response.json()) as { total: number };
  };
  return { checkout, folder, devFile, start, startReady, serverPid, isAlive, listResidents };
};
