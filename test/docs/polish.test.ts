import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { placeholderBase } from "#lib/docs/built.ts";
import { polish } from "../../infra/docs/polish.ts";

/** Polishes a page with two scripts. @returns the script that the page loads: its address, and what it imports. */
const polishSite = (imported: string) => {
  const folder = mkdtempSync(join(tmpdir(), "site-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(`${folder}/_astro`);
  const script = `${placeholderBase}/docs/_astro/a.1234.js`;
  writeFileSync(
    `${folder}/index.html`,
    `<html><head></head><body><script src="${script}"></script></body></html>`,
  );
  writeFileSync(`${folder}/_astro/a.1234.js`, 'const preloaded = ["_astro/b.5678.js"];');
  writeFileSync(`${folder}/_astro/b.5678.js`, imported);
  polish(folder);
  const [, address = ""] = /src="([^"]+)"/.exec(readFileSync(`${folder}/index.html`, "utf8")) ?? [];
  const read = (path: string) => readFileSync(`${folder}/${path}`, "utf8");
  const [, preloaded = ""] = /\["(.+)"\]/.exec(read(address.replace(`${placeholderBase}/docs/`, ""))) ?? [];
  return { address, preloaded: read(preloaded) };
};

test("the address of a script changes with what it imports, although its name from before polishing does not", () => {
  const first = polishSite("export const one = 1;");
  expect(first.preloaded).toBe("export const one = 1;");
  expect(polishSite("export const one = 1;")).toEqual(first);
  expect(polishSite("export const one = 2;").address).not.toBe(first.address);
});
