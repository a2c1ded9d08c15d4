import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** How long an attempt waits for the lock. */
const waitMs = 20;

/** Locks a file until the connection closes or its process ends, however it ends. @returns undefined if another holds it. */
const lockFile = (file: string): DatabaseSync | undefined => {
  const connection = new DatabaseSync(file, { timeout: waitMs });
  try {
    connection.exec("pragma journal_mode = memory; begin exclusive"); // in memory: no file remains beside it
    return connection;
  } catch (error) {
    connection.close();
    if ((error as { errcode?: number }).errcode !== 5) throw error; // SQLITE_BUSY
    return undefined;
  }
};

const read = (file: string): string | undefined => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
};

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // of another account
  }
};

/**
 * Acquires the lock of a file for this process, and writes the process's id into it. SQLite locks a second file beside
 * it: the system releases that lock when a process ends, so a file of a dead process needs no decision.
 *
 * @returns functions that tell whether the file is still this process's and release it, or the id of the process that
 *   holds it.
 */
export const takeLock = (
  file: string,
): { isHeld: () => boolean; release: () => void } | { holder: number } => {
  mkdirSync(dirname(file), { recursive: true });
  let connection = lockFile(`${file}.lock`);
  while (!connection) {
    const holder = Number(read(file));
    if (holder > 0 && isRunning(holder)) return { holder };
    connection = lockFile(`${file}.lock`); // the holder has not written its id yet, or has just ended
  }
  const lock = connection;
  writeFileSync(file, String(process.pid));
  const isHeld = () => read(file) === String(process.pid);
  return {
    isHeld,
    release: () => {
      if (isHeld()) rmSync(file, { force: true });
      lock.close();
    },
  };
};
