import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Whether the process runs the program. Checks the command line, because a process id may be reused. */
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

const read = (file: string): string | undefined => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined; // released in the meantime
  }
};

/** Creates the file with its content atomically. @returns false if it exists. */
const create = (file: string): boolean => {
  const mine = `${file}.${process.pid}`;
  writeFileSync(mine, String(process.pid));
  try {
    linkSync(mine, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  } finally {
    rmSync(mine);
  }
};

/** Removes the lock of a dead process. A lock that was acquired in the meantime is restored. */
const clear = (file: string, stale: string) => {
  const moved = `${file}.${process.pid}.stale`;
  try {
    renameSync(file, moved);
    if (read(moved) !== stale) linkSync(moved, file);
    rmSync(moved);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
};

/**
 * Acquires a lock file for this process, also from a process that no longer runs.
 *
 * @param program part of the command line that identifies the holder.
 * @returns functions that tell whether it is still there and release it, or the id of the process that holds it.
 */
export const takeLock = (
  file: string,
  program: string,
): { isHeld: () => boolean; release: () => void } | { holder: number } => {
  mkdirSync(dirname(file), { recursive: true });
  while (!create(file)) {
    const content = read(file);
    if (content === undefined) continue;
    const holder = Number(content);
    if (holder > 0 && holder !== process.pid && isRunning(holder, program)) return { holder };
    clear(file, content);
  }
  const isHeld = () => read(file) === String(process.pid);
  return {
    isHeld,
    release: () => {
      if (isHeld()) rmSync(file, { force: true });
    },
  };
};
