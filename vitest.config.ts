import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

/** What a test leaves behind, or a killed worker, goes with the run. */
const temporary = mkdtempSync(join(tmpdir(), "test-run-"));
process.env.TMPDIR = temporary;
process.once("exit", () => rmSync(temporary, { recursive: true, force: true }));

export default defineConfig({
  test: {
    // real processes, databases and sockets on a machine that may be busy: the report names what needed a second run
    retry: 1,
    // the default leaves one core free, of two; but tests wait more than they work
    maxWorkers: "100%",
    testTimeout: 20_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: "local",
          include: ["test/**/*.test.ts"],
          exclude: ["test/template/**", "**/node_modules/**"],
          globalSetup: "test/steps/global-setup.ts",
        },
      },
      {
        // the same contract, answered by the synthesized templates
        extends: true,
        test: {
          name: "template",
          include: ["test/{contract,gateway,template}/**/*.test.ts"],
          globalSetup: "test/template/global-setup.ts",
        },
      },
    ],
  },
});
