import { execFileSync } from "node:child_process";
import { globSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Workshop } from "../../steps/workshop.ts";

/** For the whole contract on a busy machine. */
const mostMs = 900_000;

/** Finds the tag of the release before the checked-out commit, such as `v0.1.0`. @param folder of the repository. */
export const findRelease = (folder = "."): string | undefined => {
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  try {
    return git("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*", "HEAD^");
  } catch {
    return undefined;
  }
};

/**
 * Runs the contract tests of a release, with its own code, on the schema of another one.
 *
 * @param release is changed: it gets the migrations that are new, and the database's functions.
 * @param folder with the migrations and the functions of the other one, like `lib/db`.
 * @param files which tests.
 * @returns what is wrong, a line each; nothing if the release works on that schema.
 */
export const tryOnSchema = async (
  release: Workshop,
  folder: string,
  files: readonly string[] = ["test/contract"],
): Promise<readonly string[]> => {
  const texts = new Map(
    globSync("{tables,functions/*}/*.sql", { cwd: folder }).map((file) => [
      `lib/db/${file}`,
      readFileSync(join(folder, file), "utf8"),
    ]),
  );
  const changed = release
    .list("lib/db/tables")
    .filter((file) => texts.get(`lib/db/tables/${file}`) !== release.read(`lib/db/tables/${file}`));
  if (changed.length > 0) return changed.map((file) => `${file} has run, and was changed or removed since`);
  rmSync(join(release.folder, "lib/db/functions"), { recursive: true, force: true });
  for (const [file, text] of texts) release.write(file, text);
  const { passed, failed } = await release.test(files, undefined, mostMs, 240_000);
  if (failed.length === 0 && passed.length === 0) return ["no test of the release ran"];
  return failed.map((name) => `the release fails: ${name}`);
};
