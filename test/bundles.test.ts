import { readFileSync, statSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { routes } from "#lib/routes/index.ts";
import { imageContents } from "../infra/aws/constructs/messenger-task.ts";
import { bundleFolder, listFunctions, messengerBundle } from "../infra/build/build.ts";
import { memoryFlags, memorySettings } from "../infra/local/messenger/process.ts";

/** What a cold start has to read, in units of 1024 bytes: an eighth more than the largest that was measured. */
const limit = { withSdk: 184, withoutSdk: 55 };
/** What some functions need beyond that: jose 12, ipaddr.js 13, the HTTP client and the area's own code. */
const extra: Readonly<Record<string, number>> = {
  "employee/login": 32,
  "employee/refresh": 32,
  "employee/employees": 18,
  "employee/ticket": 18,
  // the forms and the headers of a send
  "messaging/send-image": 3,
  "messaging/send-file": 3,
  // the database, the HTTP client, the templates and their versions together; the numbering plans of all countries 192
  notify: 199,
};

test.each(listFunctions())("the bundle of %s is small", (fn) => {
  const file = `${bundleFolder(fn)}/index.mjs`;
  const withSdk = readFileSync(file, "utf8").includes("GetSecretValue");
  const allowed = (withSdk ? limit.withSdk : limit.withoutSdk) + (extra[fn] ?? 0);
  expect(statSync(file).size / 1024).toBeLessThanOrEqual(allowed);
});

test("the messenger's image uses the flags and settings of the memory tests", () => {
  const dockerfile = readFileSync("infra/aws/messenger.Dockerfile", "utf8");
  expect(JSON.parse(/^CMD (\[.*\])$/m.exec(dockerfile)?.[1] ?? "[]")).toEqual([
    ...["node", ...memoryFlags, "messenger.mjs"],
  ]);
  const settings = [...dockerfile.matchAll(/^ENV (MALLOC_\w+)=(\d+)$/gm)].map(([, name, value]) => [
    name,
    value,
  ]);
  expect(Object.fromEntries(settings)).toEqual(memorySettings);
});

test("the messenger's image contains sharp for its platform and every licence", () => {
  const dockerfile = readFileSync("infra/aws/messenger.Dockerfile", "utf8");
  const copied = [...dockerfile.matchAll(/^COPY --chmod=\d+ (.*) \S+$/gm)].flatMap(([, from = ""]) =>
    from.split(" "),
  );
  expect(copied).toEqual(imageContents);
  const versionIn = (folder: string) => JSON.parse(readFileSync(`${folder}/package.json`, "utf8")).version;
  const native = "infra/image/node_modules/@img/sharp-linux-arm64";
  const sharpVersion = versionIn("node_modules/sharp");
  expect([versionIn("infra/image/node_modules/sharp"), versionIn(native)]).toEqual([
    sharpVersion,
    sharpVersion,
  ]);
  const machine = readFileSync(`${native}/lib/sharp-linux-arm64-${sharpVersion}.node`).readUInt16LE(18);
  expect(machine).toBe(183); // EM_AARCH64
  const licences = readFileSync(`${dirname(messengerBundle)}/LICENSES.txt`, "utf8");
  for (const [name, licence] of [
    ["libsignal", "GPL-3.0"],
    ["sharp", "Apache-2.0"],
    ["@img/sharp-libvips-linux-arm64", "LGPL-3.0-or-later"],
  ])
    expect(licences).toMatch(new RegExp(`^${name} \\S+: ${licence}$`, "m"));
});

test("the messenger's bundle needs no other file, and prints no keys", () => {
  const bundle = readFileSync(messengerBundle, "utf8");
  expect(bundle).not.toContain(process.cwd());
  for (const asset of ["light-dark(", "visibilitychange", "<title>Messenger</title>"])
    expect(bundle).toContain(asset);
  expect(bundle).not.toMatch(/Closing session|Removing old closed session/);
});

test.each(listFunctions())("the bundle of %s imports nothing and has no path of this machine", (fn) => {
  const bundle = readFileSync(`${bundleFolder(fn)}/index.mjs`, "utf8");
  const modules = builtinModules.join("|");
  // an import of a module of Node's costs up to 25 ms, and there are no others beside a bundle
  expect(bundle).not.toMatch(new RegExp(`\\b(from|import|require)\\s*\\(?"(node:)?(${modules})"`));
  expect(bundle).not.toContain(process.cwd());
  expect(bundle).not.toContain("zod/v4/locales");
});

test.each(listFunctions())(
  "the bundle of %s contains the multipart parser only if its route needs it",
  (fn) => {
    const bundle = readFileSync(`${bundleFolder(fn)}/index.mjs`, "utf8");
    const needed = routes.some((route) => route.fn === fn && route.encoding === "multipart");
    expect(bundle.includes("Unexpected end of multipart data")).toBe(needed);
  },
);
