import { mkdirSync, statSync, writeFileSync } from "node:fs";
import type { APIGatewayAuthorizerResult, APIGatewayProxyResult } from "aws-lambda";
import type { Authorizer } from "#lib/routes/authorizer.ts";
import { authorizers, routes } from "#lib/routes/index.ts";
import type { Route } from "#lib/routes/route.ts";
import { bundleFolder } from "../../infra/build/build.ts";
import type { City } from "../../infra/local/city.ts";
import { withCity } from "../steps/temporary-city.ts";
import { guardEvent, routeEvent } from "./first-request.ts";
import {
  compareMeasure,
  findResult,
  type Measure,
  measureOf,
  median,
  printTable,
  type Result,
} from "./result.ts";
import { type Invocation, startCold } from "./start-cold.ts";

const residents = 200;

type Figures = {
  readonly function: string;
  /** Over the pairs, of the function's time divided by the empty handler's. */
  readonly ratio: Measure;
  /** Median. */
  readonly ms: number;
  /** Median of the empty handler in the same pairs. */
  readonly emptyMs: number;
  /** Median, over the pairs, of the function's time less the empty handler's. */
  readonly extraMs: number;
  /** Size of the bundle, of 1024 bytes each. */
  readonly bundleKb: number;
};

const round = (value: number, digits: number) => Number(value.toFixed(digits));

/** A handler that does nothing, in `folder`: what is left is Node and the runtime client. */
const writeEmptyHandler = (folder: string) => {
  mkdirSync(folder);
  writeFileSync(
    `${folder}/index.mjs`,
    'export const handler = async () => ({ statusCode: 200, body: "" });\n',
  );
};

/** Whether a route's or an authorizer's result shows that it did its work. */
const isOk = (result: APIGatewayProxyResult | null) => [200, 308].includes(result?.statusCode ?? 0);
const isPolicy = (result: APIGatewayAuthorizerResult | null) =>
  result?.policyDocument?.Statement[0]?.Effect === "Allow";

interface Measured<T> {
  readonly figures: Figures;
  readonly result: T;
}

/** Starts the empty handler and the function in turn, so that both meet the same load of the machine. */
const measure = async <T>(
  target: Omit<Invocation, "event">,
  makeEvent: () => Promise<unknown>,
  isDone: (result: T) => boolean,
  { emptyFolder, pairs, signal }: { emptyFolder: string; pairs: number; signal: AbortSignal },
): Promise<Measured<T>> => {
  const { fn, folder } = target;
  const start = async (event: unknown) => {
    signal.throwIfAborted();
    const { ms, payload, printed } = await startCold({ ...target, event });
    const result = JSON.parse(payload) as T;
    // an error is quick, but no figure
    if (!isDone(result)) throw new Error(`${fn} answered ${payload}\n${printed}`);
    return { ms, result };
  };
  const startPair = async () => {
    const event = await makeEvent();
    const { ms: emptyMs } = await startCold({ ...target, event, fn: "empty", folder: emptyFolder });
    const { ms } = await start(event);
    return { emptyMs, ms };
  };

  const { result } = await start(await makeEvent()); // not counted: it reads the bundle from the disk
  const times: Awaited<ReturnType<typeof startPair>>[] = [];
  while (times.length < pairs) times.push(await startPair());
  const figures: Figures = {
    function: fn,
    ratio: measureOf(times.map(({ ms, emptyMs }) => ms / emptyMs)),
    ms: round(median(times.map(({ ms }) => ms)), 1),
    emptyMs: round(median(times.map(({ emptyMs }) => emptyMs)), 1),
    extraMs: round(median(times.map(({ ms, emptyMs }) => ms - emptyMs)), 1),
    bundleKb: Math.round(statSync(`${folder}/index.mjs`).size / 1024),
  };
  console.log(`${fn}: ${figures.ratio.median} times the empty handler`);
  return { figures, result };
};

/** Measures every function of the route table; requests to routes contain the authorizers' answers. */
const measureAll = async (city: City, folder: string, pairs: number, signal: AbortSignal) => {
  const emptyFolder = `${folder}/empty`;
  writeEmptyHandler(emptyFolder);
  const run = { emptyFolder, pairs, signal };
  const targetOf = (row: Route | Authorizer) => {
    const { fn, memoryMb, timeoutSeconds } = row;
    return { fn, memoryMb, timeoutSeconds, folder: bundleFolder(fn), variables: city.variables(row) };
  };

  const all: Figures[] = [];
  const contexts = new Map<string, Record<string, unknown>>();
  for (const authorizer of authorizers) {
    const makeEvent = () => guardEvent(authorizer, city);
    const { figures, result } = await measure(targetOf(authorizer), makeEvent, isPolicy, run);
    all.push(figures);
    contexts.set(authorizer.kind, { ...result?.context, principalId: result?.principalId });
  }
  for (const route of routes) {
    const makeEvent = () => routeEvent(route, city, contexts.get(route.auth.kind));
    const { figures } = await measure(targetOf(route), makeEvent, isOk, run);
    all.push(figures);
  }
  return all;
};

/**
 * Measures each function's cold start as a ratio to an empty handler's, both under AWS's runtime client:
 * a slow or a busy machine slows both. A start includes the first request with its secrets and its
 * database, which are near here; it does not include what Lambda does before it starts the process.
 *
 * @param options `pairs`: the starts of each function.
 */
export const benchColdStart = async ({ pairs }: { pairs: number }): Promise<Result> => {
  const functions = await withCity(residents, (city, folder, signal) =>
    measureAll(city, folder, pairs, signal),
  );
  const before = new Map(
    (findResult("cold-start")?.functions as Figures[] | undefined)?.map((row) => [row.function, row.ratio]),
  );
  printTable(
    functions.map(({ ratio, ...row }) => ({
      ...row,
      ratio: ratio.median,
      before: before.get(row.function)?.median ?? 0,
      change: compareMeasure(ratio, before.get(row.function)),
    })),
  );
  return { bench: "cold-start", figures: { pairs, functions } };
};
