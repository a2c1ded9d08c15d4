import type { Context } from "aws-lambda";
import { bundleFolder } from "../../infra/build/build.ts";
import { readPeakBytes } from "./peak-memory.ts";

/*
 * A function's bundle in a separate process, which can be killed like a Lambda environment. Its arguments are the
 * function and the event as JSON; it prints its duration, peak memory and answer.
 */
const [fn = "", event = "{}"] = process.argv.slice(2);
const { handler } = await import(`${bundleFolder(fn)}/index.mjs`);
const started = performance.now();
const context: Pick<Context, "awsRequestId" | "getRemainingTimeInMillis"> = {
  awsRequestId: "in-a-process",
  getRemainingTimeInMillis: () => 120_000,
};
const answer: unknown = await handler(JSON.parse(event), context);
const milliseconds = Math.round(performance.now() - started);
const peakMegabytes = Math.round((readPeakBytes() ?? 0) / 1024 ** 2);
process.stdout.write(`${JSON.stringify({ milliseconds, peakMegabytes, answer })}\n`);
process.exit();
