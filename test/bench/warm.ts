import { fork } from "node:child_process";
import { once } from "node:events";
import type { APIGatewayAuthorizerResult } from "aws-lambda";
import type { Authorizer } from "#lib/routes/authorizer.ts";
import { authorizers, routes } from "#lib/routes/index.ts";
import type { Route } from "#lib/routes/route.ts";
import { bundleFolder } from "../../infra/build/build.ts";
import type { City } from "../../infra/local/city.ts";
import { withCity } from "../steps/temporary-city.ts";
import { guardEvent, routeEvent } from "./first-request.ts";
import { printTable, type Result } from "./result.ts";
import type { Reply, Task, Times } from "./warm-process.ts";

const residents = 200;
/** A request with its database takes about as long as so many without. */
const wholeShare = 50;
/** These are limited by the hour or keep what is sent: few requests. */
const counted = /\/(login|refresh|send-.+)$/;
const few = 100;

const ask = async (city: City, row: Route | Authorizer, task: Task): Promise<Reply> => {
  const child = fork(new URL("warm-process.ts", import.meta.url), {
    // no collection of young objects while memory is measured
    execArgv: ["--expose-gc", "--max-semi-space-size=64"],
    env: { ...city.variables(row), TZ: ":UTC" },
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  child.stdout?.resume();
  child.send(task);
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`${task.fn} ended with ${code}`);
  });
  const [reply] = (await Promise.race([once(child, "message"), ended])) as [Reply];
  return reply;
};

/** What is measured of each function. */
export interface Warm {
  readonly functions: readonly ({ readonly function: string } & Omit<Reply, "payload">)[];
}

const columnsOf = (name: string, { p50, p99, bytes }: Partial<Times> = {}) => ({
  [`${name} p50 µs`]: p50 ?? "",
  [`${name} p99 µs`]: p99 ?? "",
  [`${name} bytes`]: bytes ?? "",
});

/**
 * Measures requests to functions that are warm: the whole handler, with its database and old systems nearby, and its
 * pipeline alone: what happens before and after `handle`, from the headers to the log line. What the operating system takes
 * to write that line stands beside it.
 *
 * @param options `requests`: to each pipeline; a fiftieth of them with the database.
 */
export const benchWarm = async ({ requests }: { requests: number }): Promise<Result> => {
  const functions = await withCity(residents, async (city, _, signal) => {
    const measured: Warm["functions"][number][] = [];
    const contexts = new Map<string, Record<string, unknown>>();
    const measure = async (row: Route | Authorizer, event: unknown) => {
      signal.throwIfAborted();
      const { fn } = row;
      const whole = Math.ceil(requests / wholeShare);
      const { payload, ...times } = await ask(city, row, {
        ...{ fn, event, folder: bundleFolder(fn), pipeline: requests },
        whole: counted.test(fn) ? Math.min(few, whole) : whole,
      });
      measured.push({ function: fn, ...times });
      console.log(`${fn}: p50 ${times.whole.p50} µs`);
      return JSON.parse(payload) as unknown;
    };
    for (const authorizer of authorizers) {
      const event = await guardEvent(authorizer, city);
      const result = (await measure(authorizer, event)) as APIGatewayAuthorizerResult;
      contexts.set(authorizer.kind, { ...result.context, principalId: result.principalId });
    }
    for (const route of routes)
      await measure(route, await routeEvent(route, city, contexts.get(route.auth.kind)));
    return measured;
  });
  printTable(
    functions.map(({ function: name, pipeline, whole, write }) => ({
      function: name,
      ...columnsOf("pipeline", pipeline),
      "write p50 µs": write.p50,
      ...columnsOf("whole", whole),
    })),
  );
  return { bench: "warm", figures: { requests, functions } };
};
