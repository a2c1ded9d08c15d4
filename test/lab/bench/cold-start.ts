import { statSync } from "node:fs";
import type { APIGatewayAuthorizerResult, APIGatewayProxyResult } from "aws-lambda";
import type { Authorizer } from "#lib/routes/authorizer.ts";
import { authorizers, routes } from "#lib/routes/index.ts";
import type { Route } from "#lib/routes/route.ts";
import { bundleFolder } from "../../../infra/build/build.ts";
import { CommandError } from "../../../infra/cli/command.ts";
import type { City } from "../../../infra/local/city.ts";
import { withCity } from "../../steps/temporary-city.ts";
import { callerWaitsOf, empty, msOf, type PeerFigures, ratioOf, round } from "./beside-peers.ts";
import { drawMeasured, type Figures, type Measured, printMeasured } from "./cold-start-figures.ts";
import { guardEvent, routeEvent } from "./first-request.ts";
import {
  allPeers,
  buildPeers,
  compareAnswers,
  type Peer,
  preparePeers,
  type Shell,
  withGuard,
} from "./peers.ts";
import { median, type Result } from "./result.ts";
import { type Contender, type Round, startOne, startRounds, writeEmptyHandler } from "./rounds.ts";

const residents = 200;

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

/** The same, invoked a second time when it is warm. */
const withWarmOf = (contender: Contender): Contender => ({
  ...contender,
  target: { ...contender.target, again: true },
});

/** Requests to routes contain their authorizer's answer. */
const routeOf = (row: Route, city: City, context: Record<string, unknown> | undefined): Contender => ({
  name: row.fn,
  target: targetOf(row, city),
  makeEvent: () => routeEvent(row, city, context),
  check: checkReply,
});

/** A peer gets no answer of an authorizer. */
const peerOf = (
  { name, folder }: Peer,
  row: Route,
  city: City,
  answer: APIGatewayProxyResult,
): Contender => ({
  name,
  target: { ...targetOf(withGuard(row), city), folder },
  makeEvent: () => routeEvent(row, city, undefined),
  check: (result) => compareAnswers(answer, result as APIGatewayProxyResult, city),
});

/** The same with a body that is no object, which ours and peers must reject: who does not check it is quick, too. */
const refusedOf = (contender: Contender): Contender => ({
  ...contender,
  makeEvent: async () => ({ ...((await contender.makeEvent()) as object), body: "[]" }),
  check(result) {
    const { statusCode } = result as APIGatewayProxyResult;
    if (statusCode !== 400) throw new Error(`status ${statusCode} instead of 400`);
  },
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
  share: ratioOf(rounds, fn, name),
  ms: round(median(rounds.map((starts) => msOf(starts, name))), 1),
  bundleKb: sizeOf(bundle),
});

interface Run {
  /** For the empty handler and the bundles of peers. */
  readonly folder: string;
  readonly rounds: number;
  readonly peers: readonly Shell[];
  readonly signal: AbortSignal;
}

/** The handler that does nothing, in place of a function. */
const emptyOf = ({ target }: Contender, folder: string): Contender => ({
  name: empty,
  target: { ...target, fn: empty, folder: `${folder}/empty` },
  makeEvent: async () => ({}),
  check: () => {},
});

/** Measures a route in turn with the empty handler and, if it has peers, with them and its authorizer. */
const measureRoute = async (
  row: Route,
  city: City,
  context: Record<string, unknown> | undefined,
  { folder, peers, ...run }: Run,
): Promise<Measured> => {
  const ours = routeOf(row, city, context);
  const built = await buildPeers(row.fn, folder, peers);
  const guard = built.length > 0 ? authorizers.find(({ kind }) => kind === row.auth.kind) : undefined;
  const answer = (await startOne(ours)).result as APIGatewayProxyResult;
  const all = [ours, ...built.map((peer) => peerOf(peer, row, city, answer))];
  if (built.length > 0) for (const one of all) await startOne(refusedOf(one));
  const authorizer = guard && withWarmOf(authorizerOf(guard, city));
  const rounds = await startRounds([emptyOf(ours, folder), ...(authorizer ? [authorizer] : []), ...all], run);
  const names = built.map(({ name }) => name);
  return {
    functions: [figuresOf(row.fn, rounds)],
    peers: built.map((peer) => peerFiguresOf(row.fn, peer, rounds)),
    callerWaits: authorizer ? callerWaitsOf(row.fn, authorizer.name, names, rounds) : [],
  };
};

/** Measures the functions whose name contains `only`. */
const measureAll = async (city: City, only: string, run: Run): Promise<Measured> => {
  const { folder } = run;
  writeEmptyHandler(`${folder}/empty`);
  await preparePeers(city);
  const functions: Figures[] = [];
  const contexts = new Map<string, Record<string, unknown>>();
  for (const row of authorizers) {
    const contender = authorizerOf(row, city);
    const result = (await startOne(contender)).result as APIGatewayAuthorizerResult;
    contexts.set(row.kind, { ...result.context, principalId: result.principalId });
    if (row.fn.includes(only))
      functions.push(figuresOf(row.fn, await startRounds([emptyOf(contender, folder), contender], run)));
  }
  const measured: Measured[] = [];
  for (const row of routes.filter(({ fn }) => fn.includes(only)))
    measured.push(await measureRoute(row, city, contexts.get(row.auth.kind), run));
  return {
    functions: [...functions, ...measured.flatMap((one) => one.functions)],
    peers: measured.flatMap((one) => one.peers),
    callerWaits: measured.flatMap((one) => one.callerWaits),
  };
};

/**
 * Measures each function's cold start as a ratio to an empty handler's, both under AWS's runtime client:
 * a slow or a busy machine slows both. A start includes the first request with its secrets and its
 * database, which are near here; it does not include what Lambda does before it starts the process.
 *
 * @param options `pairs`: the starts of each function; `only`: part of the names of the functions; `peers`: the frameworks.
 */
export const benchColdStart = async ({
  pairs,
  only = "",
  peers = allPeers,
}: {
  pairs: number;
  only?: string | undefined;
  peers?: readonly Shell[];
}): Promise<Result> => {
  if (![...authorizers, ...routes].some(({ fn }) => fn.includes(only)))
    throw new CommandError(`No function's name contains ${only}`);
  const measured = await withCity(residents, (city, folder, signal) =>
    measureAll(city, only, { folder, rounds: pairs, peers, signal }),
  );
  printMeasured(measured);
  return { bench: "cold-start", figures: { pairs, ...measured }, picture: drawMeasured(measured) };
};
