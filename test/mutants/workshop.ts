import { execFile, execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** What a run of tests came to. */
export interface Outcome {
  readonly failed: readonly string[];
  readonly passed: number;
}

interface Report {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** A test file that hangs has noticed the breakage, too. */
const mostMs = 240_000;

/** A copy of the working tree, in which files may be broken. */
export interface Workshop {
  readonly folder: string;
  read(file: string): string;
  write(file: string, text: string): void;
  /** Runs test files; @param only is a regular expression for the names of the tests. */
  test(files: readonly string[], only?: string): Promise<Outcome>;
  /** Checks the types of everything. @returns what the compiler says; nothing when all is well. */
  checkTypes(): Promise<string>;
  remove(): void;
}

const installed = ["node_modules", "test/runtime-client/node_modules"];

const listFiles = (): string[] =>
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "-z"], { encoding: "utf8" })
    .split("\0")
    .filter((file) => file !== "" && existsSync(file));

/** Copies what git tracks or would track; what npm has installed is shared. */
export const openWorkshop = (): Workshop => {
  const folder = mkdtempSync(join(tmpdir(), "mutants-"));
  const at = (file: string) => join(folder, file);
  for (const file of listFiles()) cpSync(file, at(file), { recursive: true });
  for (const name of installed)
    if (existsSync(name) && existsSync(dirname(at(name)))) symlinkSync(resolve(name), at(name));
  const report = at("report.json");
  return {
    folder,
    read: (file) => readFileSync(at(file), "utf8"),
    write: (file, text) => writeFileSync(at(file), text),
    async test(files, only) {
      rmSync(report, { force: true });
      const args = ["run", ...files, "--project", "!template", "--bail", "1", "--reporter", "json"];
      const options = [...(only ? ["--testNamePattern", only] : []), "--outputFile", report];
      const failure = await run(process.execPath, ["node_modules/vitest/vitest.mjs", ...args, ...options], {
        cwd: folder,
        timeout: mostMs,
        killSignal: "SIGTERM",
        maxBuffer: 2 ** 26,
      }).catch((error: Error & { killed?: boolean; stderr?: string }) => error);
      if (!existsSync(report)) {
        const why = failure instanceof Error ? (failure.killed ? "it hung" : failure.stderr) : "no report";
        return { failed: [`the run itself: ${why?.trim().slice(0, 300)}`], passed: 0 };
      }
      const { numPassedTests, testResults }: Report = JSON.parse(readFileSync(report, "utf8"));
      const failed = testResults.flatMap(({ name, status, message, assertionResults }) => {
        const names = assertionResults.filter((one) => one.status === "failed").map((one) => one.fullName);
        // a set-up that fails has no test of its own
        return names.length === 0 && status === "failed" ? [`${name}: ${message.slice(0, 200)}`] : names;
      });
      return { failed, passed: numPassedTests };
    },
    async checkTypes() {
      const failure = await run(process.execPath, ["node_modules/typescript/bin/tsc"], {
        cwd: folder,
        maxBuffer: 2 ** 26,
      }).catch((error: Error & { stdout?: string }) => error);
      return failure instanceof Error ? (failure.stdout ?? failure.message) : "";
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
};
