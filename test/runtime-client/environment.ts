import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Invocation, Outcome } from "../../infra/local/lambda/environment.ts";
import { runtimeClient } from "./client.ts";
import { startRuntimeApi } from "./runtime-api.ts";

/** A function as Lambda knows it. */
export interface FunctionSettings {
  readonly name: string;
  readonly arn: string;
  /** Folder of the code. */
  readonly folder: string;
  /** Module and export, such as `index.handler`. */
  readonly handler: string;
  readonly memoryMb: number;
  readonly logFormat: "JSON" | "Text";
  /** Region, credentials and the function's own variables. */
  readonly variables: Readonly<Record<string, string>>;
}

export interface EnvironmentOptions extends FunctionSettings {
  /** Modules that the process loads before the runtime client, as file URLs; none runs the client as AWS compiles it. */
  readonly preloads: readonly string[];
  readonly onLine: (line: string) => void;
}

/** One execution environment: a process of AWS's runtime client, which serves one invocation at a time. */
export interface Environment {
  /** When the process was started, in milliseconds of `performance.now()`. */
  readonly startedAt: number;
  /** Undefined once the handler is loaded, or why it could not be. */
  readonly loaded: Promise<Outcome | undefined>;
  /** Never rejects: the end of the process is an outcome too. */
  invoke(invocation: Invocation): Promise<Outcome>;
  readonly ended: Promise<Outcome>;
  stop(): Promise<void>;
}

/** Replaces the compiled part of the runtime client, where it was not compiled. */
export const withoutCompiledClient = new URL("./preload.ts", import.meta.url).href;

/** The flags with which the bootstrap of Lambda's image for Node 18 starts it; the heap follows the function's memory. */
const flagsOf = (memoryMb: number): string[] => {
  const newSpaceMb = Math.floor(memoryMb / 10);
  return [
    "--expose-gc",
    ...["--max-http-header-size", "81920"],
    `--max-semi-space-size=${Math.floor(newSpaceMb / 2)}`,
    `--max-old-space-size=${memoryMb - newSpaceMb}`,
  ];
};

/**
 * Starts a function's process. All it sees of the environment is what Lambda sets and the function's variables.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html#configuration-envvars-runtime
 */
export const startEnvironment = async (options: EnvironmentOptions): Promise<Environment> => {
  const { name, arn, folder, handler, memoryMb, logFormat, variables, preloads, onLine } = options;
  const api = await startRuntimeApi(arn);
  const startedAt = performance.now();
  const child = spawn(
    process.execPath,
    [...flagsOf(memoryMb), ...preloads.flatMap((url) => ["--import", url]), runtimeClient, handler],
    {
      cwd: folder,
      env: {
        ...variables,
        AWS_LAMBDA_RUNTIME_API: api.address,
        AWS_LAMBDA_FUNCTION_NAME: name,
        AWS_LAMBDA_FUNCTION_VERSION: "$LATEST",
        AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMb),
        AWS_LAMBDA_LOG_GROUP_NAME: name,
        AWS_LAMBDA_LOG_STREAM_NAME: "local",
        AWS_LAMBDA_LOG_FORMAT: logFormat,
        AWS_LAMBDA_INITIALIZATION_TYPE: "on-demand",
        AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x",
        LAMBDA_TASK_ROOT: folder,
        TZ: ":UTC",
        _HANDLER: handler,
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  for (const stream of [child.stdout, child.stderr]) createInterface(stream).on("line", onLine);
  const ended = once(child, "close").then(
    ([code, signal]): Outcome => ({
      errorMessage: `${name} ended with ${code ?? signal}`,
      errorType: "Runtime.ExitError",
    }),
  );
  return {
    startedAt,
    ended,
    loaded: Promise.race([api.loaded, ended]),
    invoke: (invocation) => Promise.race([api.invoke(invocation), ended]),
    async stop() {
      child.kill("SIGKILL");
      await ended;
      await api.stop();
    },
  };
};
