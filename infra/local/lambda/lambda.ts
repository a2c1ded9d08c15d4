import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import type { Invocation, Outcome, Settings } from "./environment.ts";

/** One function as Lambda runs it: environments that serve one invocation each at a time. */
export interface Lambda {
  /** @returns the handler's result as JSON, or the error that Lambda would report. Never rejects. */
  invoke(event: unknown, requestId: string): Promise<Outcome>;
  /** Lets running invocations end and starts the next ones from the bundle as it is now. */
  reload(): void;
  stop(): Promise<void>;
}

export interface LambdaOptions {
  readonly name: string;
  /** Folder with `index.mjs`. */
  readonly folder: string;
  /** All that the function sees of its environment. */
  readonly variables: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  /** Receives each line that the function writes. */
  readonly onLine: (line: string) => void;
}

const maxEnvironments = 20;

interface Environment {
  readonly worker: Worker;
  readonly generation: number;
}

/** Runs a function's bundle in worker threads, with Lambda's rules on time, memory between calls and crashes. */
export const startLambda = ({ name, folder, variables, timeoutSeconds, onLine }: LambdaOptions): Lambda => {
  const idle: Environment[] = [];
  const all = new Set<Environment>();
  const waiting: (() => void)[] = [];
  let generation = 0;
  let stopped = false;

  const create = (): Environment => {
    const bundle = `${pathToFileURL(`${folder}/index.mjs`).href}?generation=${generation}`;
    const worker = new Worker(new URL("./environment.ts", import.meta.url), {
      workerData: { bundle, functionName: name } satisfies Settings,
      env: { ...variables },
      stdout: true,
      stderr: true,
    });
    for (const stream of [worker.stdout, worker.stderr]) createInterface(stream).on("line", onLine);
    const environment = { worker, generation };
    all.add(environment);
    // an idle one may still crash: it must not be lent again
    worker.once("error", () => discard(environment));
    worker.once("exit", () => discard(environment));
    return environment;
  };

  const discard = (environment: Environment) => {
    all.delete(environment);
    const place = idle.indexOf(environment);
    if (place >= 0) idle.splice(place, 1);
    return environment.worker.terminate();
  };

  const acquire = async (): Promise<Environment> => {
    for (;;) {
      const free = idle.pop();
      if (free?.generation === generation) return free;
      if (free) await discard(free);
      else if (all.size < maxEnvironments) return create();
      else await new Promise<void>((resolve) => waiting.push(resolve));
    }
  };

  const release = (environment: Environment) => {
    if (all.has(environment)) idle.push(environment);
    waiting.shift()?.();
  };

  const run = (environment: Environment, invocation: Invocation) =>
    new Promise<Outcome>((resolve) => {
      const { worker } = environment;
      const settle = (outcome: Outcome) => {
        clearTimeout(timer);
        worker.off("message", settle).off("error", crash).off("exit", exit);
        resolve(outcome);
      };
      const crash = (error: Error) =>
        settle({ errorMessage: error.message, errorType: "Runtime.UnhandledError" });
      const exit = () => settle({ errorMessage: "the environment ended", errorType: "Runtime.ExitError" });
      const timer = setTimeout(() => {
        void discard(environment);
        settle({
          errorMessage: `Task timed out after ${timeoutSeconds} seconds`,
          errorType: "Sandbox.Timedout",
        });
      }, timeoutSeconds * 1_000);
      worker.on("message", settle).on("error", crash).on("exit", exit);
      worker.postMessage(invocation);
    });

  return {
    async invoke(event, requestId) {
      if (stopped) return { errorMessage: "the function is stopped", errorType: "Sandbox.Stopped" };
      const environment = await acquire();
      const outcome = await run(environment, {
        event,
        requestId,
        deadline: Date.now() + timeoutSeconds * 1_000,
      });
      release(environment);
      return outcome;
    },
    reload() {
      generation += 1;
      for (const environment of [...idle]) void discard(environment);
    },
    async stop() {
      stopped = true;
      await Promise.all([...all].map(discard));
    },
  };
};
