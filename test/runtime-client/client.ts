import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL(".", import.meta.url));
const client = `${folder}node_modules/aws-lambda-ric`;

/**
 * AWS's own runtime client for Node, which starts a function in Lambda. It has a package of its own because `npm ci` would
 * compile C++ in every checkout, and fail where there is no compiler: older npm cannot leave out one package's scripts.
 */
export const runtimeClient = `${client}/index.mjs`;
/** The part of it that its install script compiles. */
export const isCompiled = () => existsSync(`${client}/rapid-client.node`);

/**
 * Compiles the part of the client that AWS has compiled.
 *
 * @throws Error that says what the machine lacks.
 */
export const compileRuntimeClient = (): void => {
  if (isCompiled()) return;
  if (!existsSync(runtimeClient)) throw new Error("aws-lambda-ric is missing: run npm ci.");
  console.log("compiling aws-lambda-ric in test/runtime-client, which takes about a minute …");
  const { status } = spawnSync("npm", ["rebuild", "aws-lambda-ric", "--prefix", folder], {
    stdio: "inherit",
  });
  if (status === 0 && isCompiled()) return;
  throw new Error(
    "aws-lambda-ric could not be compiled. It needs Linux, cmake, make, a C++ compiler and Python 3; " +
      "on Debian: apt-get install cmake make g++ python3",
  );
};
