import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Whether the process lives and is the program: a number alone may have gone to another one since. */
const isRunning = (pid: number, program: string): boolean => {
  try {
    process.kill(pid, 0);
    return (
      !existsSync("/proc/self/cmdline") || readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(program)
    );
  } catch {
    return false;
  }
};

/**
 * Takes a lock file for this process; one of a process that is gone is taken over.
 *
 * @param program part of the command line by which the holder is known.
 * @returns the function that gives it back, or the number of the process that holds it.
 */
export const takeLock = (file: string, program: string): { release: () => void } | { holder: number } => {
  mkdirSync(dirname(file), { recursive: true });
  for (;;) {
    try {
      writeFileSync(file, String(process.pid), { flag: "wx" });
      return { release: () => rmSync(file, { force: true }) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const holder = Number(readFileSync(file, "utf8"));
    if (holder > 0 && holder !== process.pid && isRunning(holder, program)) return { holder };
    rmSync(file, { force: true });
  }
};
