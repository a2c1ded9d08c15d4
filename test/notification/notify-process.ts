import type { Context } from "aws-lambda";
import { bundleFolder } from "../../infra/build/build.ts";

/*
 * The bundle of the function `notify` in a separate process, which can be killed like a Lambda environment.
 * Its only argument is the event as JSON; it prints its duration and peak memory.
 */
const { handler } = await import(`${bundleFolder("notify")}/index.mjs`);
const started = performance.now();
const context: Pick<Context, "getRemainingTimeInMillis"> = { getRemainingTimeInMillis: () => 120_000 };
await handler(JSON.parse(process.argv[2] ?? "{}"), context);
const milliseconds = Math.round(performance.now() - started);
const peakMegabytes = Math.round(process.resourceUsage().maxRSS / 1024);
process.stdout.write(`${JSON.stringify({ milliseconds, peakMegabytes })}\n`);
