import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL(".", import.meta.url));
const client = `${folder}node_modules/aws-lambda-ric`;

/** AWS's own runtime client for Node: what starts a function in Lambda. */
export const runtimeClient = `${client}/index.mjs`;
/** The part of it that its install script compiles. */
export const isCompiled = () => existsSync(`${client}/rapid-client.node`);

const npm = (...command: string[]) =>
  spawnSync("npm", [...command, "--prefix", folder], { stdio: "inherit" }).status === 0;

/**
 * Makes sure that the client is there, without its compiled part. `npm ci` in the checkout has done it; in a
 * copy that lacks it, it is done here. It has a package of its own because `npm ci` would compile C++ in every
 * checkout, and fail where there is no compiler: older npm knows no way to leave out one package's scripts.
 *
 * @throws Error when the registry cannot be reached.
 */
export const installRuntimeClient = (): void => {
  if (existsSync(runtimeClient)) return;
  if (npm("ci", "--ignore-scripts", "--loglevel=error") && existsSync(runtimeClient)) return;
  throw new Error(
    "aws-lambda-ric could not be installed into test/runtime-client; is the registry reachable?",
  );
};

/**
 * Makes sure that the client is there as AWS runs it, with its compiled part.
 *
 * @throws Error that says what the machine lacks.
 */
export const compileRuntimeClient = (): void => {
  installRuntimeClient();
  if (isCompiled()) return;
  console.log("compiling aws-lambda-ric in test/runtime-client, which takes about a minute …");
  if (npm("rebuild", "aws-lambda-ric") && isCompiled()) return;
  throw new Error(
    "aws-lambda-ric could not be compiled. It needs Linux, cmake, make, a C++ compiler and Python 3; " +
      "on Debian: apt-get install cmake make g++ python3",
  );
};
