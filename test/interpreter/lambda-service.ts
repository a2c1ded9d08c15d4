import type { Invocation, Outcome } from "../../infra/local/lambda/environment.ts";
import { type Environment, startEnvironment, withoutCompiledClient } from "../runtime-client/environment.ts";
import type { LambdaFunction } from "./lambda-function.ts";

export interface LambdaOptions {
  /** Variables that Lambda sets in addition to the template: the region, and the addresses of local services. */
  readonly variables: Readonly<Record<string, string>>;
  /** Further modules that each process loads first. */
  readonly preloads: readonly string[];
  readonly onLine: (line: string) => void;
}

/** A function as Lambda runs it. */
export interface RunningFunction {
  /** Starts a process before it is needed. @returns why the handler could not be loaded, or undefined. */
  prepare(): Promise<Outcome | undefined>;
  /** @returns the handler's result as JSON, or the error that Lambda would report. Never rejects. */
  invoke(event: unknown, requestId: string): Promise<Outcome>;
  /** Serves the next invocations from new processes, as Lambda does now and then. */
  renew(): Promise<void>;
  stop(): Promise<void>;
}

/** Enough for concurrent requests; more would only compete for this machine's cores. */
const maxEnvironments = 4;

/**
 * Runs a function of the template in processes of AWS's runtime client, each for one invocation at a time, with
 * exactly the environment that the template gives it.
 */
export const startFunction = (
  { timeoutSeconds, environment, accessKeyId, ...settings }: LambdaFunction,
  { variables, preloads, onLine }: LambdaOptions,
): RunningFunction => {
  const idle: Environment[] = [];
  const all = new Set<Environment>();
  const outdated = new WeakSet<Environment>();
  const waiting: (() => void)[] = [];
  let starting = 0;

  const start = async () => {
    starting += 1;
    try {
      const started = await startEnvironment({
        ...settings,
        variables: {
          ...environment,
          ...variables,
          AWS_ACCESS_KEY_ID: accessKeyId,
          AWS_SECRET_ACCESS_KEY: "local",
          AWS_SESSION_TOKEN: "local",
        },
        preloads: [withoutCompiledClient, ...preloads],
        onLine,
      });
      all.add(started);
      return started;
    } finally {
      starting -= 1;
    }
  };

  const discard = async (environment: Environment) => {
    all.delete(environment);
    await environment.stop();
  };

  const acquire = async (): Promise<Environment> => {
    for (;;) {
      const free = idle.pop();
      if (free) return free;
      if (all.size + starting < maxEnvironments) return start();
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  };

  /** Lambda's clock starts when the handler is loaded. */
  const run = async (
    environment: Environment,
    invocation: Omit<Invocation, "deadline">,
  ): Promise<Outcome> => {
    const failure = await environment.loaded;
    if (failure) return failure;
    const deadline = Date.now() + timeoutSeconds * 1_000;
    const timeout = Promise.withResolvers<Outcome>();
    const timer = setTimeout(
      () =>
        timeout.resolve({
          errorMessage: `Task timed out after ${timeoutSeconds} seconds`,
          errorType: "Sandbox.Timedout",
        }),
      timeoutSeconds * 1_000,
    );
    const outcome = await Promise.race([timeout.promise, environment.invoke({ ...invocation, deadline })]);
    clearTimeout(timer);
    return outcome;
  };

  /** After these the process is of no more use; a handler that throws leaves it as it is. */
  const isSpent = (outcome: Outcome) =>
    "errorType" in outcome && /^(Sandbox|Runtime)\./.test(outcome.errorType);

  return {
    async prepare() {
      const environment = await acquire();
      idle.push(environment);
      return environment.loaded;
    },
    async invoke(event, requestId) {
      const environment = await acquire();
      const outcome = await run(environment, { event, requestId });
      if (isSpent(outcome) || outdated.has(environment)) await discard(environment);
      else idle.push(environment);
      waiting.shift()?.();
      return outcome;
    },
    async renew() {
      for (const environment of all) outdated.add(environment);
      await Promise.all(idle.splice(0).map(discard));
    },
    async stop() {
      await Promise.all([...all].map(discard));
    },
  };
};
