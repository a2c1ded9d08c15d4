import { spawnSync } from "node:child_process";
import { parseCLI, startVitest } from "vitest/node";

/*
 * npm test: the checks, then the fast tests. With --slow first: the slow tests, without checks. Other arguments are
 * vitest's. The last line says how many tests there were, and how long all of it took.
 */
const started = performance.now();
const [first, ...others] = process.argv.slice(2);
const slow = first === "--slow";
if (!slow) {
  const { status } = spawnSync("npm", ["run", "--silent", "check"], { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
const { filter, options } = parseCLI(["vitest", "run", ...(slow ? others : process.argv.slice(2))]);
const vitest = await startVitest("test", filter, { project: slow ? ["slow"] : ["!slow"], ...options });
const modules = vitest.state.getTestModules();
const tests = modules.flatMap((module) => [...module.children.allTests()]);
const passed = tests.filter((test) => test.result().state === "passed").length;
const failed = tests.filter((test) => test.result().state === "failed").length;
const seconds = Math.round((performance.now() - started) / 1000);
const what = slow ? "slow tests" : "checks and tests";
process.stdout.write(`${what}: ${passed} passed, ${failed} failed, ${modules.length} files, ${seconds} s\n`);
process.exit();
