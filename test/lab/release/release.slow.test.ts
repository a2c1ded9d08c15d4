import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { copyMigrations } from "../../steps/migration-folder.ts";
import { Workshop } from "../../steps/workshop.ts";
import { findRelease, tryOnSchema } from "./compare.ts";

const asOwner = (text: string) => `set role municipal_owner; ${text}; reset role;`;

/** Tries this tree as the release, so that no history is needed. One part of the contract shows whether it notices the schema. */
const attempt = (folder: string) => {
  const release = new Workshop();
  onTestFinished(() => release.remove());
  return tryOnSchema(release, folder, ["test/contract/resident-search.test.ts"]);
};

test("a release passes on a schema to which the next one only adds", { timeout: 1_000_000 }, async () => {
  const { folder, write } = copyMigrations();
  write(
    "tables/9999.do.next.sql",
    asOwner("alter table resident.resident add note text not null default ''"),
  );
  expect(await attempt(folder)).toEqual([]);
});

test("a release fails on a schema from which the next one takes what it reads, and the test is named", {
  timeout: 1_000_000,
}, async () => {
  const { folder, read, write } = copyMigrations();
  const list = "functions/resident/list.sql";
  write(list, read(list).replaceAll("resident.search", "resident.find"));
  const wrongs = await attempt(folder);
  expect(wrongs).not.toEqual([]);
  for (const wrong of wrongs) expect(wrong).toMatch(/^the release fails: .*search/i);
});

test("a migration that was released and has changed since is named before anything runs", async () => {
  const { folder, write, remove } = copyMigrations();
  write("tables/0004.do.tourism.sql", "select 1;");
  const last = "0017.do.watchers.sql";
  remove(`tables/${last}`);
  expect(await attempt(folder)).toEqual([
    "0004.do.tourism.sql has run, and was changed or removed since",
    `${last} has run, and was changed or removed since`,
  ]);
});

test("the release before a commit is the newest tag of a version before it", () => {
  const folder = mkdtempSync(join(tmpdir(), "history-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=city", "-c", "user.email=city@city.example", ...args], {
      cwd: folder,
    });
  const commit = (tag?: string) => {
    git("commit", "--quiet", "--allow-empty", "--message", "a change");
    if (tag) git("tag", tag);
  };
  git("init", "--quiet");
  commit();
  expect(findRelease(folder)).toBeUndefined();
  commit("v0.1.0");
  expect(findRelease(folder)).toBeUndefined();
  commit("nightly");
  expect(findRelease(folder)).toBe("v0.1.0");
  commit("v0.2.0");
  expect(findRelease(folder)).toBe("v0.1.0");
  commit();
  expect(findRelease(folder)).toBe("v0.2.0");
});
