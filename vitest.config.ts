import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, statfsSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { correct } from "./infra/build/corrections.ts";

/** Where Linux keeps files in memory, if there is room for several times what a run needs, and programs may run there. */
const memory = "/dev/shm";
const isRoomy = (): boolean => {
  if (!existsSync("/proc/mounts")) return false;
  if (!/^\S+ \/dev\/shm tmpfs (?!\S*noexec)/m.test(readFileSync("/proc/mounts", "utf8"))) return false;
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > 6 * 2 ** 30;
};

// each test creates and removes hundreds of files in its database; on a disk, that is a quarter of the processor time of a run
const root = process.env.TMPDIR === undefined && isRoomy() ? memory : tmpdir();
const temporary = mkdtempSync(join(root, "test-run-"));
chmodSync(temporary, 0o711); // a database that root starts runs under another account
process.env.TMPDIR = temporary;
// half of what a process needs to start is compiling the same modules again
process.env.NODE_COMPILE_CACHE = join(temporary, "compile-cache");
process.env.npm_config_offline = "true"; // no test reaches the registry, also through an npm that it starts

/** What a test leaves behind, or a killed worker, goes with the run; databases too, also when the run is killed. */
const guardian = spawn(process.execPath, ["test/steps/guardian.ts", temporary], {
  stdio: ["pipe", "ignore", "inherit"],
  detached: true, // a Ctrl-C is the run's to handle
});
guardian.unref();

/** What `npm test` leaves to `npm run test:all`. */
const slow = "test/**/*.slow.test.ts";

/** Of baileys only the modules that lead to the one that is corrected: all of it would take seconds to transform. */
const baileys = /\bbaileys\/lib\/(index|Socket\/(index|communities|business|messages-recv))\.js$/;

export default defineConfig({
  // tests of sources run the libraries that bundles contain
  plugins: [
    {
      name: "correct-libraries",
      // without the comment that names a source map whose sources it lacks
      load: (path) =>
        baileys.test(path) ? readFileSync(path, "utf8").replace(/^\/\/# source.*/m, "") : null,
      transform: (source, path) => correct(path, source),
    },
  ],
  test: {
    server: { deps: { inline: ["postgres", baileys] } },
    // the default leaves one core free, of two; but tests wait more than they work
    maxWorkers: availableParallelism() + 1,
    // for a machine that is busy with something else, too
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 90_000 } },
    projects: [
      {
        // loading the CDK takes longer than any of these tests: files share it, and the stages that they compose
        extends: true,
        test: {
          name: "aws",
          include: ["test/aws/*.test.ts"],
          exclude: [slow],
          globalSetup: "test/aws/global-setup.ts",
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: "local",
          include: ["test/**/*.test.ts"],
          // those of operations read the log of a running city
          exclude: [slow, "test/aws/*.ts", "test/template/**", "**/node_modules/**"],
          globalSetup: "test/steps/global-setup.ts",
        },
      },
      {
        // the same contract, answered by the synthesized templates
        extends: true,
        test: {
          name: "template",
          include: ["test/{contract,gateway,template}/**/*.test.ts"],
          exclude: [slow],
          globalSetup: "test/template/global-setup.ts",
        },
      },
      {
        extends: true,
        test: {
          name: "slow",
          include: [slow],
          exclude: ["**/node_modules/**"],
          globalSetup: "test/steps/global-setup.ts",
        },
      },
    ],
  },
});
