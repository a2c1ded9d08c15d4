import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mostMs, type Outcome, Workshop } from "../../steps/workshop.ts";
import type { Request } from "./lane-process.ts";

/** A test of each project that mutants are tried in: with it, what they start is there before any mutant. */
const warmUp = { files: ["test/lib/lazy.test.ts", "test/aws/config.test.ts"] };

/**
 * A copy of the tree whose tests run in one process that goes on: in a few seconds, as its city and its bundles
 * are made once. They have the code of the beginning.
 */
export class Lane {
  readonly workshop = new Workshop();
  #process: ChildProcess | undefined;

  /** @throws Error unless it is started. */
  async test(request: Request): Promise<Outcome> {
    if (!this.#process) throw new Error("the lane is not started");
    return this.#ask(this.#process, request);
  }

  /** A process that ended has no result: the tests have to run again. */
  async #ask(child: ChildProcess, request: Request): Promise<Outcome> {
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, AbortSignal.timeout(mostMs)]);
    const ended = once(child, "exit", { signal }).then(
      () => ({ failed: [], passed: [] }),
      () => ({ failed: ["the run itself: it hung"], passed: [] }),
    );
    const answered = once(child, "message", { signal }).then(([outcome]) => outcome as Outcome);
    answered.catch(() => {}); // `ended` tells
    child.send(request);
    try {
      const outcome = await Promise.race([answered.catch(() => ended), ended]);
      if (outcome.passed.length + outcome.failed.length === 0 || signal.aborted) await this.#end();
      return outcome;
    } finally {
      over.abort();
    }
  }

  /** Starts it if necessary. Nothing in its copy of the tree may be broken. */
  async start(): Promise<void> {
    if (this.#process?.connected) return;
    const child = fork("test/lab/mutants/lane-process.ts", {
      cwd: this.workshop.folder,
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    this.#process = child;
    await once(child, "message");
    await this.#ask(child, warmUp);
  }

  async #end(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (!child?.connected) return;
    const exited = once(child, "exit");
    child.disconnect();
    await exited;
  }

  async remove(): Promise<void> {
    await this.#end();
    this.workshop.remove();
  }
}
