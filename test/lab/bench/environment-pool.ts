// A process with many environments of one function: each is an instance of the bundle with its own modules, and serves one
// event at a time. The next event goes to the environment that was used last; when all are in use, it waits.
import { pathToFileURL } from "node:url";
import type { Context } from "aws-lambda";

type Handler = (event: unknown, context: Partial<Context>) => Promise<{ statusCode: number }>;

export interface Invocation {
  readonly id: number;
  readonly event: unknown;
}
/** `id` is absent once all environments are loaded. */
export interface Result {
  readonly id?: number;
  readonly status?: number;
}

const [bundle = "", count = ""] = process.argv.slice(2);
const idle: Handler[] = [];
const waiting: ((handler: Handler) => void)[] = [];

for (let made = 0; made < Number(count); made++)
  idle.push((await import(`${pathToFileURL(bundle).href}?environment=${made}`)).handler);

const acquire = (): Promise<Handler> | Handler =>
  idle.pop() ?? new Promise((resolve) => waiting.push(resolve));

const release = (handler: Handler): void => {
  const next = waiting.shift();
  if (next) next(handler);
  else idle.push(handler);
};

const answer = (result: Result) => process.send?.(result);

process.on("message", async ({ id, event }: Invocation) => {
  const handler = await acquire();
  const deadline = Date.now() + 10_000;
  const { statusCode } = await handler(event, {
    awsRequestId: String(id),
    getRemainingTimeInMillis: () => deadline - Date.now(),
  }).catch(() => ({ statusCode: 502 }));
  release(handler);
  answer({ id, status: statusCode });
});
answer({});
