import { Agent } from "undici";
import { planCapacity } from "../../../infra/aws/capacity.ts";
import type { City } from "../../../infra/local/city.ts";
import { withCity } from "../../steps/temporary-city.ts";
import { curveOf } from "./burst-picture.ts";
import { type Answer, burst, recover, sendAt, sweep } from "./load.ts";
import { printTable, type Result } from "./result.ts";

/** Of a db.t4g.micro, the smallest stage. */
const size = { connections: 94, functionConcurrency: 300 };
const seconds = 3;

interface BurstOptions {
  readonly requests: number;
  /** Requests a second, from what the throttle lets through to twenty times as many. */
  readonly offered?: readonly number[];
}

const measure = async (
  city: City,
  { requests, offered = [50, 100, 200, 500, 1_000, 2_000] }: BurstOptions,
  signal: AbortSignal,
) => {
  const dispatcher = new Agent({ connections: requests });
  const ask = async (): Promise<Answer> => {
    const started = performance.now();
    const response = await dispatcher.request({
      origin: new URL(city.baseUrl).origin,
      path: `${new URL(city.baseUrl).pathname.replace(/\/$/, "")}/v1/penduduk`,
      method: "POST",
      headers: { apikey: city.apiKey, "content-type": "application/json" },
      body: "{}",
    });
    await response.body.dump();
    return { status: response.statusCode, ms: performance.now() - started };
  };
  // not counted: environments that are still cold
  await sendAt(ask, 100, seconds);
  await recover(ask);
  const rows = await sweep(ask, offered, seconds, signal);
  const figures = { rows, burst: await burst(ask, requests, city.database.adminUrl) };
  await dispatcher.close();
  return figures;
};

/**
 * Measures what callers of the resident list get from the smallest stage at growing rates, and in one burst: its server's
 * connections, throttles and reserved concurrency are those of AWS, its processors are this machine's.
 *
 * @param options `requests`: of the burst.
 */
export const benchBurst = async (options: BurstOptions): Promise<Result> => {
  const figures = await withCity(10_000, (city, _, signal) => measure(city, options, signal), {
    capacity: planCapacity(size),
    messenger: { url: "http://127.0.0.1:1" },
  });
  printTable(figures.rows);
  printTable([figures.burst]);
  const picture = curveOf(
    "Resident list of a stage with 94 connections",
    figures.rows.map((row) => ({
      offered: row["offered per s"],
      served: row.served / seconds,
      p50: row["p50 ms"],
      p99: row["p99 ms"],
    })),
  );
  return { bench: "burst", figures: { ...size, seconds, ...figures }, picture };
};
