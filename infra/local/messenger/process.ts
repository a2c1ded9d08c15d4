import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { messengerBundle } from "../../build/build.ts";

export type MessengerProcess = Awaited<ReturnType<typeof startMessengerProcess>>;

const lifeline = new URL("./lifeline.ts", import.meta.url).href;
/** As in `messenger.Dockerfile`: V8 collects garbage before it allocates more memory. */
export const memoryFlags = ["--max-semi-space-size=4", "--max-old-space-size=96"];
/** As in `messenger.Dockerfile`: glibc returns freed memory to the system. */
export const memorySettings = { MALLOC_ARENA_MAX: "2", MALLOC_MMAP_THRESHOLD_: "65536" };
const stopTimeoutMs = 15_000;

const urlIn = (line: string): string | undefined => {
  try {
    const { message, url } = JSON.parse(line) as { message?: string; url?: string };
    return message === "listening" ? url : undefined;
  } catch {
    return undefined;
  }
};

/**
 * Starts the messenger's bundle in a separate process, as its container does.
 *
 * @param variables its environment variables.
 * @param onLine receives each line of its output.
 * @throws Error if it ends before it listens.
 */
export const startMessengerProcess = async (
  variables: Readonly<Record<string, string>>,
  onLine: (line: string) => void,
) => {
  const child = spawn(process.execPath, [...memoryFlags, "--import", lifeline, messengerBundle], {
    env: { ...memorySettings, ...variables },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const listening = Promise.withResolvers<string>();
  const last: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on("line", (line) => {
      onLine(line);
      last.push(line);
      if (last.length > 5) last.shift();
      const url = urlIn(line);
      if (url) listening.resolve(url);
    });
  const exited = once(child, "exit");
  exited.then(() => listening.reject(new Error(`the messenger ended:\n${last.join("\n")}`)));
  const url = await listening.promise;
  const end = async (signal: "SIGTERM" | "SIGKILL") => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await exited;
  };
  return {
    url,
    pid: child.pid ?? 0,
    /** Resolves when the process has ended. */
    exited: exited as Promise<unknown>,
    async stop() {
      const timer = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
      await end("SIGTERM");
      clearTimeout(timer);
    },
    kill: () => end("SIGKILL"),
  };
};
