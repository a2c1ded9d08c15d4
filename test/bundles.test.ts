import { readFileSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { bundleFolder, listFunctions } from "../infra/build.ts";

/** What a cold start has to read, in bytes: measured, with little room. */
const limit = { withSdk: 230 * 1024, withoutSdk: 60 * 1024 };

test.each(listFunctions())("the bundle of %s is small", (fn) => {
  const file = `${bundleFolder(fn)}/index.mjs`;
  const withSdk = readFileSync(file, "utf8").includes("GetSecretValue");
  expect(statSync(file).size).toBeLessThanOrEqual(withSdk ? limit.withSdk : limit.withoutSdk);
});

test.each(listFunctions())("the bundle of %s has no costly import and no path of the machine", (fn) => {
  const bundle = readFileSync(`${bundleFolder(fn)}/index.mjs`, "utf8");
  expect(bundle).not.toMatch(/from\s*"(node:)?https?"/);
  expect(bundle).not.toContain(process.cwd());
  expect(bundle).not.toContain("zod/v4/locales");
});
