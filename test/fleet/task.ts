import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { memoryFlags, memorySettings } from "../../infra/local/messenger/process.ts";
import { compileCache } from "../steps/command.ts";
import type { Assignment } from "./assignment.ts";

const source = fileURLToPath(new URL("task-process.ts", import.meta.url));

/** Starts a task with the memory settings of its container. @param heapMb instead of the container's. */
export const spawnTask = (assignment: Assignment, heapMb?: number) => {
  const heap = heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`];
  const child = spawn(process.execPath, [...memoryFlags, ...heap, source, JSON.stringify(assignment)], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...compileCache, ...memorySettings, LOG_LEVEL: "error" },
  });
  const exited = once(child, "exit");
  const end = async (signal: "SIGTERM" | "SIGKILL"): Promise<void> => {
    child.kill(signal);
    await exited;
  };
  const lines = createInterface(child.stdout);
  return { exited, lines, pid: child.pid ?? 0, kill: () => end("SIGKILL"), stop: () => end("SIGTERM") };
};

export type TaskProcess = Awaited<ReturnType<typeof startTaskProcess>>;

/** Starts a task, and waits until it listens. @throws Error if it ends before. */
export const startTaskProcess = async (assignment: Assignment, heapMb?: number) => {
  const task = spawnTask(assignment, heapMb);
  const listening = Promise.withResolvers<string>();
  task.lines.on("line", (line) => {
    if (line.startsWith("http://")) listening.resolve(line);
  });
  task.exited.then(() => listening.reject(new Error("the task ended")));
  return { ...task, url: await listening.promise };
};
