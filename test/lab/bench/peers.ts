import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import type { APIGatewayProxyResult } from "aws-lambda";
import * as esbuild from "esbuild";
import { type JWTPayload, jwtVerify } from "jose";
import postgres from "postgres";
import { authorizers } from "#lib/routes/index.ts";
import type { Route } from "#lib/routes/route.ts";
import type { City } from "../../../infra/local/city.ts";
import { readLocalSecret } from "../../../infra/local/secrets/store.ts";

const folder = fileURLToPath(new URL("peers", import.meta.url));

/** The module of each duty that peers do, by our function. */
const duties: Readonly<Record<string, string>> = {
  "resident/list": "list",
  "employee/login": "login",
  "messaging/send-message": "send-message",
};

/** The frameworks, and the format in which the bundle of each starts sooner. */
const shells = {
  plain: "esm",
  express: "cjs",
  fastify: "cjs",
  hono: "esm",
  nest: "cjs",
  powertools: "esm",
} as const;
export type Shell = keyof typeof shells;

/** A framework with one duty. */
export interface Peer {
  readonly name: Shell;
  /** With the bundle, which exports `handler`. */
  readonly folder: string;
  readonly bundle: string;
}

const isInstalled = () => {
  const [installed, lock] = [`${folder}/node_modules/.package-lock.json`, `${folder}/package-lock.json`];
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs;
};

/** Installs the frameworks, which the product does not need, and checks the types of what uses them. */
export const installPeers = (): void => {
  const run = (command: string, ...args: string[]) =>
    spawnSync(command, args, { stdio: "inherit" }).status === 0;
  if (!isInstalled() && !run("npm", "ci", "--prefix", folder, "--ignore-scripts", "--loglevel=error"))
    throw new Error("test/lab/bench/peers could not be installed; is the registry reachable?");
  if (!run("node_modules/.bin/tsc", "--project", folder))
    throw new Error("The sources in test/lab/bench/peers do not conform to their types.");
};

export const allPeers = Object.keys(shells) as readonly Shell[];

/** Of these, the one that uses only packages of the product: it needs no installation. */
export const ownPeers: readonly Shell[] = ["plain"];

/** CommonJS packages call `require`, which ES modules lack. */
const banner = {
  js: 'import{createRequire as __createRequire}from"node:module";const require=__createRequire(import.meta.url);',
};

/** What the packages would load for features that are not used. */
const optional = [
  "@nestjs/microservices",
  "@nestjs/microservices/*",
  "@nestjs/websockets",
  "@nestjs/websockets/*",
  "class-transformer",
  "class-transformer/*",
  "class-validator",
];

/** In place of a duty's own work: it returns at once what `globalThis.reply` holds. */
const idle = "{ ...duty, authenticate: async () => ({}), answer: async () => globalThis.reply }";

const buildPeer = async (name: Shell, duty: string, to: string, served: string): Promise<Peer> => {
  const format = shells[name];
  const bundle = `${to}/index.${format === "esm" ? "mjs" : "cjs"}`;
  await esbuild.build({
    stdin: {
      contents: `import { serve } from './shells/${name}.ts';
import { duty } from './duties/${duty}.ts';
export const handler = serve(${served});`,
      resolveDir: folder,
      sourcefile: `${name}-${duty}.ts`,
      loader: "ts",
    },
    tsconfig: `${folder}/tsconfig.json`,
    outfile: bundle,
    bundle: true,
    minify: true,
    platform: "node",
    target: "node24",
    format,
    mainFields: ["module", "main"],
    external: optional,
    legalComments: "none",
    logLevel: "silent",
    ...(format === "esm" && { banner }),
  });
  return { name, folder: to, bundle };
};

/**
 * Bundles the frameworks with the duty of our function, minified, as the CDK's NodejsFunction does, without our plugins.
 *
 * @param to a folder for the bundles. @param names of the frameworks, which `installPeers` installs.
 * @param work `idle` leaves out the duty's own work.
 */
export const buildPeers = async (
  fn: string,
  to: string,
  names: readonly Shell[],
  work: "whole" | "idle" = "whole",
): Promise<readonly Peer[]> => {
  const duty = duties[fn];
  if (duty === undefined) return [];
  return Promise.all(
    names.map((name) => buildPeer(name, duty, `${to}/${name}-${duty}`, work === "idle" ? idle : "duty")),
  );
};

/** A peer checks its caller itself, so it gets the secrets of the authorizer too. */
export const withGuard = (row: Route): Route => ({
  ...row,
  secrets: { ...authorizers.find(({ kind }) => kind === row.auth.kind)?.secrets, ...row.secrets },
});

/**
 * Allows the role of the list to check API keys: a peer checks its caller itself, and so needs one secret and one
 * connection for both.
 */
export const preparePeers = async ({ database }: City): Promise<void> => {
  const sql = postgres(database.adminUrl, { max: 1, fetch_types: false });
  try {
    await sql.unsafe(
      `grant usage on schema partner to municipal_resident;
       grant execute on function partner.authenticate to municipal_resident`,
    );
  } finally {
    await sql.end();
  }
};

const isSameToken = async (ours: string, theirs: string, city: City): Promise<boolean> => {
  const { k } = readLocalSecret("token-key", city.secrets);
  const key = Buffer.from(k, "base64url");
  const [one, other] = await Promise.all(
    [ours, theirs].map((token) => jwtVerify(token, key, { typ: "at+jwt" })),
  );
  const withoutTime = ({ jti, iat, nbf, exp, ...claims }: JWTPayload) => ({
    ...claims,
    lifetime: (exp ?? 0) - (iat ?? 0),
    names: Object.keys({ jti, nbf }),
  });
  return isDeepStrictEqual(
    [one?.protectedHeader, withoutTime(one?.payload ?? {})],
    [other?.protectedHeader, withoutTime(other?.payload ?? {})],
  );
};

/** Replaces what each answer has of its own. */
const common = (body: string) =>
  JSON.parse(body, (name, value) => (["id", "token", "refresh_token"].includes(name) ? typeof value : value));

/** Adapters answer with headers of one value, or of many, in any case; they may add a length. */
const readHeaders = ({ headers, multiValueHeaders }: APIGatewayProxyResult) =>
  Object.fromEntries(
    Object.entries({ ...multiValueHeaders, ...headers })
      .map(([name, value]) => [name.toLowerCase(), String(value)] as const)
      .filter(
        ([name]) => !["content-length", "date", "connection", "keep-alive", "x-request-id"].includes(name),
      )
      .toSorted(),
  );

/** @throws Error unless a peer answers as our function does, but for ids, times and tokens. */
export const compareAnswers = async (
  ours: APIGatewayProxyResult,
  theirs: APIGatewayProxyResult,
  city: City,
): Promise<void> => {
  const shape = (result: APIGatewayProxyResult) => [
    result.statusCode,
    readHeaders(result),
    common(result.body),
  ];
  if (!isDeepStrictEqual(shape(ours), shape(theirs)))
    throw new Error(`answers differ: ${JSON.stringify([ours, theirs])}`);
  const [one, other] = [ours, theirs].map(({ body }) => JSON.parse(body) as { token?: string });
  if (one?.token === undefined || other?.token === undefined) return;
  if (!(await isSameToken(one.token, other.token, city)))
    throw new Error("the tokens differ in more than time");
};
