import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { transformSync } from "esbuild";
import { deadline } from "#lib/deadline.ts";
import type { Invocation, Outcome, Settings } from "./environment.ts";

export type Lambda = ReturnType<typeof startLambda>;

export interface LambdaOptions {
  readonly name: string;
  /** Folder with `index.mjs`. */
  readonly folder: string;
  /** The function's environment variables. */
  readonly variables: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  /** For the bundle to load. */
  readonly loadTimeoutMs?: number;
  /** Reserved concurrency: further invocations are rejected, as by Lambda. By default they wait. */
  readonly reserved?: number | undefined;
  /** Receives each line of the function's output. */
  readonly onLine: (line: string) => void;
}

const maxEnvironments = 20;

/** Without types, which each thread would take out anew, in 40 ms. */
const program = new URL(
  `data:text/javascript,${encodeURIComponent(
    transformSync(readFileSync(new URL("./environment.ts", import.meta.url), "utf8"), { loader: "ts" }).code,
  )}`,
);

/** Environments that load at once, of all functions: more would only make each slower. */
const maxLoading = availableParallelism();
/** As in Lambda: https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html */
const defaultLoadTimeoutMs = 10_000;
let loading = 0;
/** Invocations that wait until they may have a new environment. */
const growing = new Set<() => void>();

const endLoading = () => {
  loading -= 1;
  for (const wake of [...growing]) wake();
};

/** Formats a failure, which Lambda would log, like the functions' own lines. */
const failureLine = (message: string, fn: string, outcome: Outcome, requestId?: string) =>
  JSON.stringify({
    time: new Date().toISOString(),
    level: "error",
    message,
    fn,
    request_id: requestId,
    ...outcome,
  });

interface Environment {
  readonly worker: Worker;
  readonly generation: number;
  /** Resolves to undefined when the module is loaded, or else to the error. */
  readonly loaded: Promise<Outcome | undefined>;
}

/** Lambda's own rejection, with status 429. */
const throttled: Outcome = { errorMessage: "Rate Exceeded.", errorType: "TooManyRequestsException" };
const ended: Outcome = { errorMessage: "the environment ended", errorType: "Runtime.ExitError" };
const crashed = (error: Error): Outcome => ({
  errorMessage: error.message,
  errorType: "Runtime.UnhandledError",
});

/** Waits for a worker's next message, or the outcome of its end. */
const nextMessage = <T>(worker: Worker): Promise<T | Outcome> =>
  new Promise((resolve) => {
    const settle = (value: T | Outcome) => {
      worker.off("message", settle).off("error", onError).off("exit", onExit);
      resolve(value);
    };
    const onError = (error: Error) => settle(crashed(error));
    const onExit = () => settle(ended);
    worker.on("message", settle).on("error", onError).on("exit", onExit);
  });

/**
 * Runs a function's bundle in worker threads as Lambda does: an environment serves one invocation at a time, keeps its
 * memory between invocations, and is replaced after a timeout or crash.
 */
export const startLambda = ({
  name,
  folder,
  variables,
  timeoutSeconds,
  loadTimeoutMs = defaultLoadTimeoutMs,
  reserved,
  onLine,
}: LambdaOptions) => {
  const idle: Environment[] = [];
  const all = new Set<Environment>();
  const waiting = new Set<() => void>();
  let running = 0;
  let generation = 0;
  let stopped = false;

  const create = (): Environment => {
    const bundle = `${pathToFileURL(`${folder}/index.mjs`).href}?generation=${generation}`;
    const worker = new Worker(program, {
      workerData: { bundle, functionName: name } satisfies Settings,
      env: { ...variables },
      stdout: true,
      stderr: true,
    });
    for (const stream of [worker.stdout, worker.stderr]) createInterface(stream).on("line", onLine);
    const loaded = deadline(nextMessage<"loaded">(worker), loadTimeoutMs).then(
      (first) => (first === "loaded" ? undefined : first),
      (): Outcome => {
        void discard(environment);
        return {
          errorMessage: `the function did not load within ${loadTimeoutMs} ms`,
          errorType: "Sandbox.Timedout",
        };
      },
    );
    loading += 1;
    void loaded.then(endLoading);
    const environment = { worker, generation, loaded };
    all.add(environment);
    // an idle environment may crash too
    worker.once("error", (error) => {
      onLine(failureLine("function crashed", name, crashed(error)));
      void discard(environment);
    });
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
      else {
        const mayGrow = all.size < Math.min(reserved ?? maxEnvironments, maxEnvironments);
        if (mayGrow && loading < maxLoading) return create();
        await wait(mayGrow);
      }
    }
  };

  const wait = (mayGrow: boolean) =>
    new Promise<void>((resolve) => {
      const wake = () => {
        for (const set of [waiting, growing]) set.delete(wake);
        resolve();
      };
      waiting.add(wake);
      if (mayGrow) growing.add(wake);
    });

  const release = (environment: Environment) => {
    if (all.has(environment)) idle.push(environment);
    const [wake] = waiting;
    wake?.();
  };

  const run = async (environment: Environment, event: unknown, requestId: string): Promise<Outcome> => {
    const failure = await environment.loaded;
    if (failure) return failure;
    const invocation: Invocation = { event, requestId, deadline: Date.now() + timeoutSeconds * 1_000 };
    environment.worker.postMessage(invocation);
    return deadline(nextMessage<Outcome>(environment.worker), timeoutSeconds * 1_000).catch(() => {
      void discard(environment);
      const errorMessage = `Task timed out after ${timeoutSeconds} seconds`;
      return { errorMessage, errorType: "Sandbox.Timedout" };
    });
  };

  return {
    /** Returns the handler's result, or the error that Lambda would report. Never rejects. */
    async invoke(event: unknown, requestId: string): Promise<Outcome> {
      if (stopped) return { errorMessage: "the function is stopped", errorType: "Sandbox.Stopped" };
      if (reserved !== undefined && running >= reserved) return throttled;
      running += 1;
      const environment = await acquire();
      const outcome = await run(environment, event, requestId);
      running -= 1;
      if ("errorMessage" in outcome && outcome.errorMessage !== "Unauthorized")
        onLine(failureLine("function failed", name, outcome, requestId));
      release(environment);
      return outcome;
    },
    /** Uses the current bundle for the next invocations. Running ones continue. */
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
