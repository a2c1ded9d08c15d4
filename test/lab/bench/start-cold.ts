import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { functionName } from "../../../infra/build/build.ts";
import { isCompiled } from "../../runtime-client/client.ts";
import { startEnvironment, withoutCompiledClient } from "../../runtime-client/environment.ts";

/** A function and its first event. */
export interface Invocation {
  readonly fn: string;
  /** Folder with `index.mjs`, which exports `handler`. */
  readonly folder: string;
  /** The environment, without Lambda's own variables. */
  readonly variables: Readonly<Record<string, string>>;
  readonly memoryMb: number;
  readonly timeoutSeconds: number;
  readonly event: unknown;
  /** Whether to send the event a second time, to the process that is warm by then. */
  readonly again?: boolean;
}

export interface ColdStart {
  /** From the start of the process to the arrival of the handler's result. */
  readonly ms: number;
  /** Duration of the second invocation. */
  readonly againMs?: number | undefined;
  /** The handler's result as JSON. */
  readonly payload: string;
  /** The function's log, until it was ended. */
  readonly printed: string;
}

/**
 * Runs a function in a fresh process of the runtime client, for one invocation or two.
 *
 * @throws Error with what it printed when it fails or does not answer in time.
 */
export const startCold = async (invocation: Invocation): Promise<ColdStart> => {
  const { fn, timeoutSeconds, event, again, ...settings } = invocation;
  const printed: string[] = [];
  const environment = await startEnvironment({
    ...settings,
    name: functionName(fn),
    arn: "arn:aws:lambda:local:000000000000:function:bench",
    handler: "index.handler",
    logFormat: "Text",
    preloads: isCompiled() ? [] : [withoutCompiledClient],
    onLine: (line) => printed.push(line),
  });
  const giveUp = new AbortController();
  const late = setTimeout(timeoutSeconds * 1_000, undefined, { signal: giveUp.signal }).then(
    () => ({ errorMessage: `no answer within ${timeoutSeconds} s`, errorType: "Timeout" }),
    () => ({ errorMessage: "not waited for", errorType: "Timeout" }),
  );
  const deadline = Date.now() + timeoutSeconds * 1_000;
  const invoke = () => environment.invoke({ event, requestId: randomUUID(), deadline });
  const answered = invoke();
  const outcome = await Promise.race([
    answered,
    environment.loaded.then((failure) => failure ?? answered),
    late,
  ]);
  const answeredAt = performance.now();
  const ms = answeredAt - environment.startedAt;
  const second = again && "payload" in outcome ? await Promise.race([invoke(), late]) : undefined;
  const againMs = second && "payload" in second ? performance.now() - answeredAt : undefined;
  giveUp.abort();
  // its end is waited for, so that it takes no time from the next start
  await environment.stop();
  if ("payload" in outcome) return { ms, againMs, payload: outcome.payload, printed: printed.join("\n") };
  throw new Error(`${fn}: ${outcome.errorType}: ${outcome.errorMessage}\n${printed.join("\n")}`);
};
