import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { memoryFlags, memorySettings } from "../../infra/local/messenger/process.ts";
import type { Assignment } from "./assignment.ts";

const source = fileURLToPath(new URL("task-process.ts", import.meta.url));

export type TaskProcess = Awaited<ReturnType<typeof startTaskProcess>>;

/**
 * Starts a task with the memory settings of its container.
 *
 * @param heapMb instead of the container's.
 * @throws Error if it ends before it listens.
 */
export const startTaskProcess = async (assignment: Assignment, heapMb?: number) => {
  const heap = heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`];
  const child = spawn(process.execPath, [...memoryFlags, ...heap, source, JSON.stringify(assignment)], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...memorySettings, LOG_LEVEL: "error" },
  });
  const exited = once(child, "exit");
  const listening = Promise.withResolvers<string>();
  createInterface(child.stdout).on("line", (line) => {
    if (line.startsWith("http://")) listening.resolve(line);
  });
  exited.then(() => listening.reject(new Error("the task ended")));
  const url = await listening.promise;
  const end = async (signal: "SIGTERM" | "SIGKILL"): Promise<void> => {
    child.kill(signal);
    await exited;
  };
  return { url, pid: child.pid ?? 0, kill: () => end("SIGKILL"), stop: () => end("SIGTERM") };
};
