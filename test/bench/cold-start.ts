import { statSync } from "node:fs";
import type { APIGatewayAuthorizerResult, APIGatewayProxyResult } from "aws-lambda";
import type { Authorizer } from "#lib/routes/authorizer.ts";
import { authorizers, routes } from "#lib/routes/index.ts";
import type { Route } from "#lib/routes/route.ts";
import { bundleFolder } from "../../infra/build/build.ts";
import { CommandError } from "../../infra/commands/command.ts";
import type { City } from "../../infra/local/city.ts";
import { withCity } from "../steps/temporary-city.ts";
import {
  type CallerWait,
  callerWaitsOf,
  empty,
  msOf,
  type PeerFigures,
  ratioOf,
  round,
} from "./beside-peers.ts";
import { guardEvent, routeEvent } from "./first-request.ts";
import { type Bar, barsOf } from "./peer-picture.ts";
import { buildPeers, compareAnswers, type Peer, preparePeers } from "./peers.ts";
import { compareMeasure, findResult, type Measure, median, printTable, type Result } from "./result.ts";
import { type Contender, type Round, startOne, startRounds, writeEmptyHandler } from "./rounds.ts";

const residents = 200;

type Figures = {
  readonly function: string;
  /** Over the rounds, of the function's time divided by the empty handler's. */
  readonly ratio: Measure;
  /** Median. */
  readonly ms: number;
  /** Median of the empty handler in the same rounds. */
  readonly emptyMs: number;
  /** Median, over the rounds, of the function's time less the empty handler's. */
  readonly extraMs: number;
  /** Size of the bundle, of 1024 bytes each. */
  readonly bundleKb: number;
};

interface Measured {
  readonly functions: readonly Figures[];
  readonly peers: readonly PeerFigures[];
  readonly callerWaits: readonly CallerWait[];
}

const sizeOf = (bundle: string) => Math.round(statSync(bundle).size / 1024);

/** A route's or an authorizer's result must show that it did its work. */
const checkReply = (result: unknown) => {
  const { statusCode } = result as APIGatewayProxyResult;
  if (![200, 308].includes(statusCode)) throw new Error(`status ${statusCode}`);
};
const checkPolicy = (result: unknown) => {
  const { policyDocument } = result as APIGatewayAuthorizerResult;
  if (policyDocument?.Statement[0]?.Effect !== "Allow") throw new Error("no policy");
};

const targetOf = (row: Route | Authorizer, city: City) => {
  const { fn, memoryMb, timeoutSeconds } = row;
  return { fn, memoryMb, timeoutSeconds, folder: bundleFolder(fn), variables: city.variables(row) };
};

const authorizerOf = (row: Authorizer, city: City): Contender => ({
  name: row.fn,
  target: targetOf(row, city),
  makeEvent: () => guardEvent(row, city),
  check: checkPolicy,
});

/** Requests to routes contain their authorizer's answer. */
const routeOf = (row: Route, city: City, context: Record<string, unknown> | undefined): Contender => ({
  name: row.fn,
  target: targetOf(row, city),
  makeEvent: () => routeEvent(row, city, context),
  check: checkReply,
});

/** A peer checks its caller itself, so it gets the authorizer's secrets too, and no answer of it. */
const peerOf = (
  { name, folder }: Peer,
  { row, guard, city }: { row: Route; guard: Authorizer | undefined; city: City },
  answer: APIGatewayProxyResult,
): Contender => ({
  name,
  target: {
    ...targetOf(row, city),
    folder,
    variables: city.variables({ ...row, secrets: { ...guard?.secrets, ...row.secrets } }),
  },
  makeEvent: () => routeEvent(row, city, undefined),
  check: (result) => compareAnswers(answer, result as APIGatewayProxyResult, city),
});

const figuresOf = (fn: string, rounds: readonly Round[]): Figures => {
  const ratio = ratioOf(rounds, fn, empty);
  console.log(`${fn}: ${ratio.median} times the empty handler`);
  const medianOf = (ms: (starts: Round) => number) => round(median(rounds.map(ms)), 1);
  return {
    function: fn,
    ratio,
    ms: medianOf((starts) => msOf(starts, fn)),
    emptyMs: medianOf((starts) => msOf(starts, empty)),
    extraMs: medianOf((starts) => msOf(starts, fn) - msOf(starts, empty)),
    bundleKb: sizeOf(`${bundleFolder(fn)}/index.mjs`),
  };
};

const peerFiguresOf = (fn: string, { name, bundle }: Peer, rounds: readonly Round[]): PeerFigures => ({
  function: fn,
  peer: name,
  ratio: ratioOf(rounds, name, empty),
  toOurs: ratioOf(rounds, name, fn),
  ms: round(median(rounds.map((starts) => msOf(starts, name))), 1),
  bundleKb: sizeOf(bundle),
});

interface Run {
  readonly rounds: number;
  readonly signal: AbortSignal;
}

/** Measures the functions whose name contains `only`, each in turn with an empty handler, and with its peers if it has any. */
const measureAll = async (city: City, folder: string, only: string, run: Run): Promise<Measured> => {
  writeEmptyHandler(`${folder}/empty`);
  const emptyOf = ({ target }: Contender): Contender => ({
    name: empty,
    target: { ...target, fn: empty, folder: `${folder}/empty` },
    makeEvent: async () => ({}),
    check: () => {},
  });
  const functions: Figures[] = [];
  const peers: PeerFigures[] = [];
  const callerWaits: CallerWait[] = [];

  const contexts = new Map<string, Record<string, unknown>>();
  for (const row of authorizers) {
    const contender = authorizerOf(row, city);
    const result = (await startOne(contender)).result as APIGatewayAuthorizerResult;
    contexts.set(row.kind, { ...result.context, principalId: result.principalId });
    if (row.fn.includes(only))
      functions.push(figuresOf(row.fn, await startRounds([emptyOf(contender), contender], run)));
  }
  await preparePeers(city);
  for (const row of routes.filter(({ fn }) => fn.includes(only))) {
    const contender = routeOf(row, city, contexts.get(row.auth.kind));
    const built = await buildPeers(row.fn, folder);
    const guard = authorizers.find(({ kind }) => kind === row.auth.kind);
    const answer = (await startOne(contender)).result as APIGatewayProxyResult;
    const guardContender = guard && built.length > 0 ? authorizerOf(guard, city) : undefined;
    const rounds = await startRounds(
      [
        emptyOf(contender),
        ...(guardContender ? [{ ...guardContender, target: { ...guardContender.target, again: true } }] : []),
        contender,
        ...built.map((peer) => peerOf(peer, { row, guard, city }, answer)),
      ],
      run,
    );
    functions.push(figuresOf(row.fn, rounds));
    peers.push(...built.map((peer) => peerFiguresOf(row.fn, peer, rounds)));
    const names = built.map(({ name }) => name);
    if (guardContender) callerWaits.push(...callerWaitsOf(row.fn, guardContender.name, names, rounds));
  }
  return { functions, peers, callerWaits };
};

/** Prints rows with what was stored before beside them. */
const printBeside = <T extends { readonly ratio: Measure }>(
  rows: readonly T[],
  stored: readonly T[] = [],
  { keyOf, cellsOf }: { keyOf: (row: T) => string; cellsOf: (row: T) => Record<string, string | number> },
) => {
  const before = new Map(stored.map((row) => [keyOf(row), row.ratio]));
  printTable(
    rows.map((row) => ({
      ...cellsOf(row),
      ratio: row.ratio.median,
      before: before.get(keyOf(row))?.median ?? 0,
      change: compareMeasure(row.ratio, before.get(keyOf(row))),
    })),
  );
};

const print = ({ functions, peers, callerWaits }: Measured) => {
  const stored = findResult("cold-start") as Partial<Measured> | undefined;
  printBeside(functions, stored?.functions, {
    keyOf: (row) => row.function,
    cellsOf: ({ ratio, ...row }) => row,
  });
  printBeside(peers, stored?.peers, {
    keyOf: (row) => `${row.function} ${row.peer}`,
    cellsOf: ({ ratio, toOurs, ...row }) => ({ ...row, toOurs: toOurs.median }),
  });
  printBeside(callerWaits, stored?.callerWaits, {
    keyOf: (row) => `${row.function} ${row.authorizer}`,
    cellsOf: ({ ratio, perStart, peers: times, ...row }) => ({
      ...row,
      perStart: perStart.median,
      ...times,
    }),
  });
};

/** Draws each function of ours between the peers with its duty; of a guarded one, also with its authorizer. */
const draw = ({ functions, peers, callerWaits }: Measured): string => {
  const one = { median: 1, low: 1, high: 1 };
  const groups = functions.flatMap(({ function: fn, ratio }) => {
    const beside = peers.filter((row) => row.function === fn);
    const waits = callerWaits.filter((row) => row.function === fn && row.authorizer === "cold");
    const bars: Bar[] = [
      { name: "empty function", ratio: one, isOurs: false },
      { name: "ours", ratio, isOurs: true },
      ...waits.map((wait) => ({ name: "ours, authorizer too", ratio: wait.ratio, isOurs: true })),
      ...beside.map((row) => ({ name: row.peer, ratio: row.ratio, isOurs: false })),
    ];
    return beside.length > 0 ? [{ title: fn, bars }] : [];
  });
  return barsOf(groups);
};

/**
 * Measures each function's cold start as a ratio to an empty handler's, both under AWS's runtime client:
 * a slow or a busy machine slows both. A start includes the first request with its secrets and its
 * database, which are near here; it does not include what Lambda does before it starts the process.
 *
 * @param options `pairs`: the starts of each function; `only`: part of the names of the functions.
 */
export const benchColdStart = async ({
  pairs,
  only = "",
}: {
  pairs: number;
  only?: string | undefined;
}): Promise<Result> => {
  if (![...authorizers, ...routes].some(({ fn }) => fn.includes(only)))
    throw new CommandError(`No function's name contains ${only}`);
  const measured = await withCity(residents, (city, folder, signal) =>
    measureAll(city, folder, only, { rounds: pairs, signal }),
  );
  print(measured);
  return { bench: "cold-start", figures: { pairs, ...measured }, picture: draw(measured) };
};
