// A Lambda execution environment: a thread with its own modules and environment variables.
import { parentPort, workerData } from "node:worker_threads";
import type { Context } from "aws-lambda";

export interface Settings {
  /** File URL of the module with the export `handler`. */
  readonly bundle: string;
  readonly functionName: string;
}

export interface Invocation {
  readonly event: unknown;
  readonly requestId: string;
  /** Unix time in milliseconds. */
  readonly deadline: number;
}

/** The handler's result as JSON, or its error, as the runtime client reports them to Lambda. */
export type Outcome =
  | { readonly payload: string }
  | { readonly errorMessage: string; readonly errorType: string };

const { bundle, functionName } = workerData as Settings;

const contextOf = ({ requestId, deadline }: Invocation): Partial<Context> => ({
  awsRequestId: requestId,
  functionName,
  functionVersion: "$LATEST",
  callbackWaitsForEmptyEventLoop: true,
  getRemainingTimeInMillis: () => deadline - Date.now(),
});

const describe = (error: unknown): Outcome =>
  error instanceof Error
    ? { errorMessage: error.message, errorType: error.name }
    : { errorMessage: String(error), errorType: "Error" };

const { handler } = (await import(bundle)) as {
  handler: (event: unknown, context: unknown) => Promise<unknown>;
};

// the module is loaded: Lambda's timeout starts now
parentPort?.postMessage("loaded");

parentPort?.on("message", async (invocation: Invocation) => {
  const outcome = await handler(invocation.event, contextOf(invocation)).then(
    (result): Outcome => ({ payload: JSON.stringify(result ?? null) }),
    describe,
  );
  parentPort?.postMessage(outcome);
});
