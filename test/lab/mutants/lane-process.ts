import { resolve } from "node:path";
import { createVitest } from "vitest/node";
import type { Outcome } from "../../steps/workshop.ts";

/** A request to run test files after a source file has changed. */
export interface Request {
  readonly changed?: string;
  readonly files: readonly string[];
  /** Regular expression for the names of the tests. */
  readonly only?: string | undefined;
}

/*
 * Runs tests again and again in one process, so that the city of the global set-up is started once. That city has
 * the code of the beginning: what tests start themselves, or call in their own process, has the code as it is.
 */
const failed: string[] = [];
const passed: string[] = [];
const vitest = await createVitest("test", {
  watch: false,
  project: ["!template"],
  bail: 1,
  testTimeout: 20_000,
  hookTimeout: 20_000,
  reporters: [
    {
      onTestCaseResult(test) {
        const { state } = test.result();
        if (state === "failed") failed.push(test.fullName);
        if (state === "passed") passed.push(test.fullName);
      },
      onTestModuleEnd(module) {
        if (module.errors().length > 0) failed.push(module.moduleId);
      },
    },
  ],
});
await vitest.standalone();

const run = async ({ changed, files, only }: Request): Promise<Outcome> => {
  failed.length = passed.length = 0;
  if (changed) vitest.invalidateFile(resolve(changed));
  if (only) vitest.setGlobalTestNamePattern(only);
  else vitest.resetGlobalTestNamePattern();
  const { unhandledErrors } = await vitest.runTestFiles(files.map((file) => resolve(file)));
  if (changed) vitest.invalidateFile(resolve(changed));
  for (const error of unhandledErrors) failed.push(String((error as Error).message));
  return { failed: [...failed], passed: [...passed] };
};

process.on("message", async (request: Request) => {
  process.send?.(
    await run(request).catch((error: Error) => ({
      failed: [`the run itself: ${error.message}`],
      passed: [],
    })),
  );
});
process.on("disconnect", () => vitest.exit(true));
process.send?.("ready");
