import { fork } from "node:child_process";
import { once } from "node:events";
import { partnerToContext } from "#lib/http/caller.ts";
import { listResidents } from "#lib/routes/resident.ts";
import { planCapacity } from "../../../infra/aws/capacity.ts";
import { bundleFolder } from "../../../infra/build/build.ts";
import type { City } from "../../../infra/local/city.ts";
import { withCity } from "../../steps/temporary-city.ts";
import { curveOf } from "./burst-picture.ts";
import type { Invocation, Result as Reply } from "./environment-pool.ts";
import { routeEvent } from "./first-request.ts";
import { type Answer, burst, recover, sendAt, summarize, sweep } from "./load.ts";
import { printTable, type Result } from "./result.ts";

/** Of a db.t4g.micro. Without reserved concurrency, all environments try to connect. */
const size = { connections: 94, functionConcurrency: 0 };
const seconds = 3;

/** Starts a process with environments of the resident list. */
const startPool = async (city: City, count: number) => {
  const child = fork(
    new URL("./environment-pool.ts", import.meta.url),
    [`${bundleFolder(listResidents.fn)}/index.mjs`, String(count)],
    {
      execArgv: ["--max-old-space-size=4096"],
      env: { ...city.variables(listResidents), LOG_LEVEL: "error" },
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    },
  );
  const waiting = new Map<number, (status: number) => void>();
  child.on("message", ({ id = -1, status = 0 }: Reply) => {
    waiting.get(id)?.(status);
    waiting.delete(id);
  });
  await once(child, "message");
  let next = 0;
  return {
    async ask(event: unknown): Promise<Answer> {
      const started = performance.now();
      const id = next++;
      const status = await new Promise<number>((resolve) => {
        waiting.set(id, resolve);
        child.send({ id, event } satisfies Invocation);
      });
      return { status, ms: performance.now() - started };
    },
    async stop() {
      child.kill();
      await once(child, "exit");
    },
  };
};

interface EnvironmentsOptions {
  readonly requests: number;
  readonly environments: number;
  /** Requests a second. */
  readonly offered?: readonly number[];
}

const measure = async (
  city: City,
  { requests, environments, offered = [50, 100, 200, 500, 1_000] }: EnvironmentsOptions,
  signal: AbortSignal,
) => {
  const caller = partnerToContext({ partnerId: "demo", keyId: "key", scopes: ["resident:read"] });
  const event = await routeEvent(listResidents, city, caller);
  const pool = await startPool(city, environments);
  try {
    const ask = () => pool.ask(event);
    await recover(ask);
    const rows = await sweep(ask, offered, seconds, signal);
    const before = summarize(await sendAt(ask, 20, seconds));
    const answered = await burst(ask, requests, city.database.adminUrl);
    const after = summarize(await sendAt(ask, 20, seconds));
    return { rows, burst: { environments, ...answered }, before, after };
  } finally {
    await pool.stop();
  }
};

/**
 * Measures what many environments of the resident list do to the smallest server when nothing limits them: no throttle, and
 * no reserved concurrency.
 *
 * @param options `requests`: of the burst.
 */
export const benchEnvironments = async (options: EnvironmentsOptions): Promise<Result> => {
  const figures = await withCity(10_000, (city, _, signal) => measure(city, options, signal), {
    capacity: planCapacity(size),
    messenger: { url: "http://127.0.0.1:1" },
  });
  printTable(figures.rows);
  printTable([figures.burst]);
  printTable([figures.before, figures.after]);
  const picture = curveOf(
    `${options.environments} environments, ${size.connections} connections, no throttle`,
    figures.rows.map((row) => ({
      offered: row["offered per s"],
      served: row.served / seconds,
      p50: row["p50 ms"],
      p99: row["p99 ms"],
    })),
  );
  return { bench: "environments", figures: { ...size, seconds, ...figures }, picture };
};
