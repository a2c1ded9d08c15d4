import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { functionName } from "../../infra/build.ts";
import { startRuntimeApi } from "./runtime-api.ts";

const folder = fileURLToPath(new URL("runtime-client/", import.meta.url));
const client = `${folder}node_modules/aws-lambda-ric`;
/** What its install script compiles; without it the client does not start. */
const isInstalled = () => existsSync(`${client}/rapid-client.node`);

/**
 * Installs `aws-lambda-ric`, AWS's own runtime client, when it is missing. It is no dependency of the
 * product because it compiles C++.
 *
 * @throws Error that says what the machine lacks.
 */
export const installRuntimeClient = () => {
  if (isInstalled()) return;
  console.log(
    "installing aws-lambda-ric into test/bench/runtime-client: it compiles C++, which takes about a minute …",
  );
  const { status } = spawnSync("npm", ["ci", "--prefix", folder], { stdio: "inherit" });
  if (status === 0 && isInstalled()) return;
  throw new Error(
    "aws-lambda-ric could not be installed. It needs Linux, cmake, make, a C++ compiler and Python 3; " +
      "on Debian: apt-get install cmake make g++ python3",
  );
};

/** A function and the event that it is asked first. */
export interface Invocation {
  readonly fn: string;
  /** Folder with `index.mjs`, which exports `handler`. */
  readonly folder: string;
  /** The environment beside what Lambda itself sets. */
  readonly variables: Readonly<Record<string, string>>;
  readonly memoryMb: number;
  readonly timeoutSeconds: number;
  readonly event: unknown;
}

export interface ColdStart {
  /** From the start of the process to the arrival of the handler's result. */
  readonly ms: number;
  /** The handler's result as JSON. */
  readonly payload: string;
  /** The function's log, until it was ended. */
  readonly printed: string;
}

/**
 * Runs a function in a fresh process of the runtime client, for one invocation.
 *
 * @throws Error with what it printed when it does not answer in time.
 */
export const startCold = async (invocation: Invocation): Promise<ColdStart> => {
  const { fn, folder, variables, memoryMb, timeoutSeconds, event } = invocation;
  const api = await startRuntimeApi(event, timeoutSeconds);
  const startedAt = performance.now();
  const child = spawn(process.execPath, [`${client}/index.mjs`, "index.handler"], {
    cwd: folder,
    env: {
      ...variables,
      AWS_LAMBDA_RUNTIME_API: api.address,
      AWS_LAMBDA_FUNCTION_NAME: functionName(fn),
      AWS_LAMBDA_FUNCTION_VERSION: "$LATEST",
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMb),
      AWS_LAMBDA_LOG_GROUP_NAME: "bench",
      AWS_LAMBDA_LOG_STREAM_NAME: "bench",
      AWS_LAMBDA_INITIALIZATION_TYPE: "on-demand",
      AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x",
      LAMBDA_TASK_ROOT: folder,
      _HANDLER: "index.handler",
    },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: timeoutSeconds * 1_000,
    killSignal: "SIGKILL",
  });
  const printed: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => printed.push(chunk));
  const closed = once(child, "close");
  const failed = closed.then(([code, signal]) => {
    throw new Error(`ended with ${code ?? signal} before it answered`);
  });
  // its end is waited for, so that it takes no time from the next start
  const end = async () => {
    child.kill("SIGKILL");
    await closed;
    await api.stop();
  };
  const { payload, arrivedAt } = await Promise.race([api.response, failed])
    .finally(end)
    .catch((cause: Error) => {
      throw new Error(`${fn}: ${cause.message}\n${Buffer.concat(printed)}`, { cause });
    });
  return { ms: arrivedAt - startedAt, payload, printed: Buffer.concat(printed).toString() };
};
