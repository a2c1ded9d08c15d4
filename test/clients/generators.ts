import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const installed = (file: string) => pathOf(`node_modules/${file}`);

const redocly = require.resolve("@redocly/cli/bin/cli.js");
/** The root's, which is faster than the one that the generators need. */
const typescript = pathOf("../../node_modules/typescript/bin/tsc");

export const apis = ["integration", "messaging"] as const;
const forEach = (command: (api: string) => string[]) => apis.map(command);

/** The commands of each generator. */
const commands: Readonly<Record<string, readonly string[][]>> = {
  "openapi-fetch": forEach((api) => [
    installed("openapi-typescript/bin/cli.js"),
    ...[`${api}.json`, "--output", `${api}.ts`],
  ]),
  "hey-api": forEach((api) => [
    installed("@hey-api/openapi-ts/bin/run.js"),
    ...["--input", `${api}.json`, "--output", api, "--no-log-file"],
  ]),
  orval: [[installed("orval/dist/bin/orval.mjs"), "--config", "orval.config.mjs"]],
  redocly: forEach((api) => [redocly, "generate-client", `${api}.json`, "--output", `${api}.ts`]),
};
export const generators = Object.keys(commands);

/** Runs a program of npm's in a folder. @throws Error with its output if it fails. */
export const run = async (folder: string, [program = "", ...args]: readonly string[]): Promise<void> => {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", NO_COLOR: "1", HOME: folder },
  });
  const exit = once(child, "exit");
  const output = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await exit;
  if (code !== 0) throw new Error(`${program} ended with ${code}:\n${output.join("")}`);
};

/** Generates a client of one API in another language with Redocly's generator. @returns its text. */
export const generateIn = async (language: "python" | "php", document: string): Promise<string> => {
  const folder = mkdtempSync(`${tmpdir()}/clients-`);
  writeFileSync(`${folder}/api.json`, document);
  await run(folder, [
    redocly,
    "generate-client",
    "api.json",
    "--output",
    "client.ts",
    "--generator",
    language,
  ]);
  return readFileSync(`${folder}/client.${{ python: "py", php: "php" }[language]}`, "utf8");
};

/** Options of an application that a bundler builds. */
const compilerOptions = [
  ...["--noEmit", "--strict", "--noUncheckedIndexedAccess", "--skipLibCheck", "--allowImportingTsExtensions"],
  ...["--target", "es2024", "--lib", "es2024,dom,dom.iterable", "--types", "node"],
  ...["--typeRoots", installed("@types"), "--module", "esnext", "--moduleResolution", "bundler"],
];

/**
 * Generates the clients of both APIs in a new folder and compiles them together with their adapter.
 *
 * @param documents in the order of the APIs.
 * @returns the path of the adapter.
 */
export const generate = async (generator: string, documents: readonly string[]): Promise<string> => {
  const parent = mkdtempSync(`${tmpdir()}/clients-`);
  const folder = `${parent}/${generator}`;
  mkdirSync(folder);
  symlinkSync(pathOf("node_modules"), `${parent}/node_modules`);
  writeFileSync(`${parent}/package.json`, '{"type": "module"}');
  cpSync(pathOf("client.ts"), `${parent}/client.ts`);
  cpSync(pathOf(`adapters/${generator}.ts`), `${folder}/adapter.ts`);
  cpSync(pathOf("orval.config.mjs"), `${folder}/orval.config.mjs`);
  for (const [index, api] of apis.entries()) writeFileSync(`${folder}/${api}.json`, documents[index] ?? "");
  for (const command of commands[generator] ?? []) await run(folder, command);
  await run(folder, [typescript, ...compilerOptions, "adapter.ts"]);
  return `${folder}/adapter.ts`;
};
