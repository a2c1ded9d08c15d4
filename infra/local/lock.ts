import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
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

const read = (file: string): string | undefined => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined; // given back in between
  }
};

/** Makes the file with its content in one step. @returns false when there is one already. */
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

/** Moves the lock of a dead process away; one that was taken anew in between is put back. */
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
 * Takes a lock file for this process; one of a process that is gone is taken over.
 *
 * @param program part of the command line by which the holder is known.
 * @returns the function that gives it back, or the number of the process that holds it.
 */
export const takeLock = (file: string, program: string): { release: () => void } | { holder: number } => {
  mkdirSync(dirname(file), { recursive: true });
  while (!create(file)) {
    const content = read(file);
    if (content === undefined) continue;
    const holder = Number(content);
    if (holder > 0 && holder !== process.pid && isRunning(holder, program)) return { holder };
    clear(file, content);
  }
  return {
    release: () => {
      if (read(file) === String(process.pid)) rmSync(file, { force: true });
    },
  };
};
