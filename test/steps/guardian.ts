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

/** A test may have stopped the processes, which then would not hear that they have to end. */
const wake = (pid: number): void => {
  for (const one of [pid, ...childrenOf(pid)])
    try {
      process.kill(one, "SIGCONT");
    } catch {
      // it has ended
    }
};

const clean = async (): Promise<void> => {
  for (const file of globSync("*/postgres/postmaster.pid", { cwd: folder })) {
    wake(Number(readFileSync(join(folder, file), "utf8").split("\n")[0]));
    await destroyServer(join(folder, dirname(file)));
  }
  rmSync(folder, { recursive: true, force: true });
};

process.stdin.on("end", clean).resume();
