import type { Context } from "aws-lambda";
import { bundleFolder } from "../../infra/build/build.ts";

/*
 * The bundle of the function `notify` in a process of its own, which can be killed as a Lambda environment can.
 * It takes the event as JSON in its only argument, and tells how long it took and the most memory that it had.
 */
const { handler } = await import(`${bundleFolder("notify")}/index.mjs`);
const started = performance.now();
const context: Pick<Context, "getRemainingTimeInMillis"> = { getRemainingTimeInMillis: () => 120_000 };
await handler(JSON.parse(process.argv[2] ?? "{}"), context);
const milliseconds = Math.round(performance.now() - started);
const peakMegabytes = Math.round(process.resourceUsage().maxRSS / 1024);
process.stdout.write(`${JSON.stringify({ milliseconds, peakMegabytes })}\n`);
