import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { APIGatewayProxyResult } from "aws-lambda";
import { endpoint } from "#lib/http/endpoint.ts";
import { multipartEndpoint } from "#lib/http/multipart-endpoint.ts";
import { routes } from "#lib/routes/index.ts";
import type { Route } from "#lib/routes/route.ts";
import { type Measure, measureOf } from "./result.ts";
import { percentile } from "./timing.ts";

/*
 * A process of its own for each function: it has the function's environment, and nothing else compiles the code that is
 * measured. Its log goes to a pipe, as in Lambda.
 */

/** What is measured. */
export interface Task {
  readonly fn: string;
  readonly bundle: string;
  readonly event: unknown;
  /** Requests to the bundle, with its database and old systems. */
  readonly whole: number;
  /** Requests to the endpoint alone: `handle` returns at once what the bundle returned before. */
  readonly pipeline: number;
  /** What the bundle of a framework without its duty's work returns: all of it is a pipeline. */
  readonly reply?: unknown;
}

/** In microseconds. */
export interface Times extends Measure {
  readonly p99: number;
  /** Allocated for each request. */
  readonly bytes: number;
}

export interface Reply {
  readonly payload: string;
  readonly whole: Times;
  readonly pipeline?: Times;
  /** The operating system's part of `pipeline`: a line of the log's length is written to the pipe. */
  readonly write: Times;
}

type Handler = (event: unknown, context: unknown) => Promise<unknown>;

const context = { getRemainingTimeInMillis: () => 10_000, callbackWaitsForEmptyEventLoop: false };

/** Requests whose memory is measured: few enough for one collection before and none meanwhile. */
const weighed = 200;

const measure = async (handler: Handler, event: unknown, requests: number): Promise<Times> => {
  const text = JSON.stringify(event);
  const run = async () => {
    // the handler changes it
    const fresh: unknown = JSON.parse(text);
    const started = performance.now();
    await handler(fresh, context);
    return (performance.now() - started) * 1_000;
  };
  for (let request = 0; request < requests / 10; request++) await run(); // not counted: it is compiled meanwhile
  const times = new Float64Array(requests);
  for (let request = 0; request < requests; request++) {
    times[request] = await run();
    // timers and replies have their turn, as between the invocations of an environment
    if (request % 1_000 === 999) await setTimeout(1);
  }
  const events = Array.from({ length: weighed }, (): unknown => JSON.parse(text));
  let last: unknown;
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  for (const one of events) last = await handler(one, context);
  const bytes = Math.round((process.memoryUsage().heapUsed - before) / weighed);
  // an error is quick, but no figure
  const { statusCode = 200 } = (last ?? {}) as Partial<APIGatewayProxyResult>;
  if (![200, 308].includes(statusCode)) throw new Error(`the last request was answered ${statusCode}`);
  return { ...measureOf([...times]), p99: percentile([...times.sort()], 0.99), bytes };
};

const line = `${" ".repeat(180)}\n`;

/** The endpoint of a route that answers JSON, without what it asks. */
const pipelineOf = (route: Route, payload: string): Handler => {
  const reply: unknown = JSON.parse((JSON.parse(payload) as APIGatewayProxyResult).body);
  const build = (
    route.encoding === "multipart" ? multipartEndpoint(route as never) : endpoint(route as never)
  ) as ReturnType<typeof endpoint>;
  return build.handler(async () => reply) as unknown as Handler;
};

process.once("message", async ({ fn, bundle, event, whole, pipeline, reply }: Task) => {
  Object.assign(globalThis, { reply });
  const { handler } = (await import(pathToFileURL(bundle).href)) as { handler: Handler };
  const payload = JSON.stringify(await handler(structuredClone(event), context));
  const route = fn.startsWith("docs/") ? undefined : routes.find((one) => one.fn === fn);
  const alone = reply === undefined ? route && pipelineOf(route, payload) : handler;
  process.send?.(
    {
      payload,
      whole: await measure(handler, event, whole),
      ...(alone && { pipeline: await measure(alone, event, pipeline) }),
      write: await measure(async () => process.stdout.write(line), event, pipeline),
    } satisfies Reply,
    () => process.exit(),
  );
});
