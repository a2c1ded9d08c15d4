import { fork } from "node:child_process";
import { once } from "node:events";
import type { APIGatewayAuthorizerResult, APIGatewayProxyResult } from "aws-lambda";
import type { Authorizer } from "#lib/routes/authorizer.ts";
import { authorizers, routes } from "#lib/routes/index.ts";
import type { Route } from "#lib/routes/route.ts";
import { bundleFolder } from "../../../infra/build/build.ts";
import type { City } from "../../../infra/local/city.ts";
import { withCity } from "../../steps/temporary-city.ts";
import { guardEvent, routeEvent } from "./first-request.ts";
import { allPeers, buildPeers, type Shell, withGuard } from "./peers.ts";
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
    execArgv: ["--expose-gc", "--min-semi-space-size=64", "--max-semi-space-size=64"],
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

type PeerTimes = Times & { readonly function: string; readonly peer: string };

/** What is measured. */
export interface Warm {
  readonly functions: readonly ({ readonly function: string } & Omit<Reply, "payload">)[];
  /** The pipelines of frameworks. */
  readonly peers: readonly PeerTimes[];
}

const columnsOf = (name: string, { median, p99, bytes }: Partial<Times> = {}) => ({
  [`${name} p50 µs`]: median ?? "",
  [`${name} p99 µs`]: p99 ?? "",
  [`${name} bytes`]: bytes ?? "",
});

interface Run {
  /** For the bundles of peers. */
  readonly folder: string;
  readonly requests: number;
  readonly peers: readonly Shell[];
  readonly signal: AbortSignal;
}

/** Measures the frameworks that do the duty of a route, without the work of the duty. */
const measurePeers = async (
  route: Route,
  city: City,
  { folder, requests, peers, payload }: Run & { readonly payload: string },
): Promise<readonly PeerTimes[]> => {
  const rows: PeerTimes[] = [];
  for (const { name, bundle } of await buildPeers(route.fn, folder, peers, "idle")) {
    const event = await routeEvent(route, city, undefined);
    const reply: unknown = JSON.parse((JSON.parse(payload) as APIGatewayProxyResult).body);
    const task = { fn: name, bundle, event, reply, whole: 1, pipeline: requests };
    const { pipeline } = await ask(city, withGuard(route), task);
    if (pipeline) rows.push({ function: route.fn, peer: name, ...pipeline });
  }
  return rows;
};

/** Measures every function; requests to routes contain their authorizer's answer. */
const measureAll = async (city: City, run: Run): Promise<Warm> => {
  const { requests, signal } = run;
  const functions: Warm["functions"][number][] = [];
  const peerTimes: PeerTimes[] = [];
  const contexts = new Map<string, Record<string, unknown>>();
  const whole = Math.ceil(requests / wholeShare);
  const measure = async (row: Route | Authorizer, event: unknown) => {
    signal.throwIfAborted();
    const { fn } = row;
    const { payload, ...times } = await ask(city, row, {
      ...{ fn, event, bundle: `${bundleFolder(fn)}/index.mjs`, pipeline: requests },
      whole: counted.test(fn) ? Math.min(few, whole) : whole,
    });
    functions.push({ function: fn, ...times });
    console.log(`${fn}: p50 ${times.whole.median} µs`);
    return payload;
  };
  for (const authorizer of authorizers) {
    const policy = await measure(authorizer, await guardEvent(authorizer, city));
    const { context, principalId } = JSON.parse(policy) as APIGatewayAuthorizerResult;
    contexts.set(authorizer.kind, { ...context, principalId });
  }
  for (const route of routes) {
    const payload = await measure(route, await routeEvent(route, city, contexts.get(route.auth.kind)));
    peerTimes.push(...(await measurePeers(route, city, { ...run, payload })));
  }
  return { functions, peers: peerTimes };
};

/**
 * Measures requests to functions that are warm: the whole handler, with its database and old systems nearby, and its
 * pipeline alone: what happens before and after `handle`, from the headers to the log line. What the operating system takes
 * to write that line stands beside it. Frameworks do the same, without their duty's work.
 *
 * @param options `requests`: to each pipeline; a fiftieth of them with the database; `peers`: the frameworks.
 */
export const benchWarm = async ({
  requests,
  peers = allPeers,
}: {
  requests: number;
  peers?: readonly Shell[];
}): Promise<Result> => {
  const measured = await withCity(residents, (city, folder, signal) =>
    measureAll(city, { folder, requests, peers, signal }),
  );
  printTable(
    measured.functions.map(({ function: name, pipeline, whole, write }) => ({
      function: name,
      ...columnsOf("pipeline", pipeline),
      "write p50 µs": write.median,
      ...columnsOf("whole", whole),
    })),
  );
  printTable(
    measured.peers.map(({ function: name, peer, ...times }) => ({
      function: name,
      peer,
      ...columnsOf("pipeline", times),
    })),
  );
  return { bench: "warm", figures: { requests, ...measured } };
};
