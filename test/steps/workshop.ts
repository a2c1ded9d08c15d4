import { execFile, execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { CommandError } from "../../infra/cli/command.ts";

const run = promisify(execFile);

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** For the tests of one mutant: if they hang they have noticed the breakage, too. */
export const mostMs = 240_000;

/** The outcome of a run: the names of the tests, or why there was no run. */
export interface Outcome {
  readonly failed: readonly string[];
  readonly passed: readonly string[];
}

const installed = ["", "infra/image/", "test/clients/", "test/runtime-client/"].map(
  (folder) => `${folder}node_modules`,
);

const listFiles = (): string[] =>
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "-z"], { encoding: "utf8" })
    .split("\0")
    .filter((file) => file !== "" && existsSync(file));

/** A copy of a tree, by default the working tree, whose files may be changed. node_modules is shared. */
export class Workshop {
  readonly folder = mkdtempSync(join(tmpdir(), "tree-"));

  constructor(files = listFiles()) {
    for (const file of files) cpSync(file, this.#at(file), { recursive: true });
    if (files.length > 0) this.#install();
  }

  /** The tree of a tag. Packages are installed if they are others than here, which needs their registry. */
  static of(tag: string): Workshop {
    const tree = new Workshop([]);
    const archive = execFileSync("git", ["archive", "--format=tar", tag], { maxBuffer: 2 ** 30 });
    execFileSync("tar", ["-x", "-C", tree.folder], { input: archive });
    if (tree.read("package-lock.json") === readFileSync("package-lock.json", "utf8")) tree.#install();
    else execFileSync("npm", ["ci"], { cwd: tree.folder, stdio: ["ignore", 2, "inherit"] });
    return tree;
  }

  #install(): void {
    for (const name of installed)
      if (existsSync(name) && existsSync(dirname(this.#at(name)))) symlinkSync(resolve(name), this.#at(name));
  }

  #at(file: string): string {
    return join(this.folder, file);
  }

  has(file: string): boolean {
    return existsSync(this.#at(file));
  }

  read(file: string): string {
    return readFileSync(this.#at(file), "utf8");
  }

  list(folder: string): readonly string[] {
    return readdirSync(this.#at(folder));
  }

  write(file: string, text: string): void {
    mkdirSync(dirname(this.#at(file)), { recursive: true });
    writeFileSync(this.#at(file), text);
  }

  /** Runs tests against new bundles and a new city. @param only regular expression for the names of the tests. */
  async test(
    files: readonly string[],
    only?: string,
    limitMs = mostMs,
    testTimeoutMs = 20_000,
  ): Promise<Outcome> {
    const report = this.#at("report.json");
    rmSync(report, { force: true });
    const args = [
      "run",
      ...files,
      "--project",
      "!template",
      "--bail",
      "1",
      "--testTimeout",
      `${testTimeoutMs}`,
    ];
    const options = [
      ...(only ? ["--testNamePattern", only] : []),
      "--reporter",
      "json",
      "--outputFile",
      report,
    ];
    const failure = await run(process.execPath, ["node_modules/vitest/vitest.mjs", ...args, ...options], {
      cwd: this.folder,
      timeout: limitMs,
      maxBuffer: 2 ** 26,
    }).catch((error: Error & { killed?: boolean; signal?: string; stderr?: string }) => error);
    if (!existsSync(report)) {
      // a failed set-up counts, a terminated run does not
      if (failure instanceof Error && failure.signal && !failure.killed)
        throw new CommandError(`The tests were ended by ${failure.signal}`);
      const why = failure instanceof Error ? (failure.killed ? "it hung" : failure.stderr) : "no report";
      return { failed: [`the run itself: ${why?.trim().slice(0, 300)}`], passed: [] };
    }
    const { testResults }: Report = JSON.parse(readFileSync(report, "utf8"));
    const failed = testResults.flatMap(({ name, status, assertionResults }) => {
      const names = assertionResults.filter((one) => one.status === "failed").map((one) => one.fullName);
      // a failed set-up belongs to no test
      return names.length === 0 && status === "failed" ? [name] : names;
    });
    const passed = testResults.flatMap(({ assertionResults }) =>
      assertionResults.filter((one) => one.status === "passed").map((one) => one.fullName),
    );
    // no test has begun: the set-up of all has failed
    if (failed.length + passed.length === 0 && failure instanceof Error)
      return { failed: [`the run itself: ${failure.stderr?.trim().slice(0, 600)}`], passed };
    return { failed, passed };
  }

  /** Checks the types of everything. @returns what the compiler says; nothing when all is well. */
  async checkTypes(): Promise<string> {
    const failure = await run(process.execPath, ["node_modules/typescript/bin/tsc"], {
      cwd: this.folder,
      maxBuffer: 2 ** 26,
    }).catch((error: Error & { stdout?: string }) => error);
    return failure instanceof Error ? (failure.stdout ?? failure.message) : "";
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
