import { globSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { destroyServer } from "../../infra/local/postgres/server.ts";

/*
 * Cleans up after a test run, however it ended: waits until its standard input is closed, as happens when the run
 * that started it is killed, then ends the databases in the run's folder and removes it.
 */
const [, , folder = ""] = process.argv;

const childrenOf = (pid: number): number[] => {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
  } catch {
    return [];
  }
};

const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name);
  } catch {
    // it has ended
  }
};

/** A test may have suspended the processes, which then would not react to a signal. */
const wake = (pid: number): void => {
  for (const one of [pid, ...childrenOf(pid)]) signal(one, "SIGCONT");
};

/** A number in the first line of a file. */
const pidIn = (file: string): number => Number(readFileSync(join(folder, file), "utf8").split("\n")[0]);

const clean = async (): Promise<void> => {
  // `npm run dev` in a test's checkout stops in order
  for (const file of globSync("*/.local/dev.pid", { cwd: folder })) signal(pidIn(file), "SIGTERM");
  for (const file of globSync("{*,*/.local,*/*}/postgres/postmaster.pid", { cwd: folder })) {
    wake(pidIn(file));
    await destroyServer(join(folder, dirname(file)));
  }
  rmSync(folder, { recursive: true, force: true });
};

process.stdin.on("end", clean).resume();
