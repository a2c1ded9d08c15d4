import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type CodeSamples, composeDocument } from "#lib/openapi/document.ts";
import { type Language, languages } from "#lib/openapi/words.ts";
import { type DocumentName, documentNames } from "#lib/routes/docs.ts";
import { integrationApi } from "../aws/integration-api.ts";
import { messagingApi } from "../aws/messaging-api.ts";
import { labels, readExample } from "./content.ts";
import { buildSite, listSitePackages, packageList } from "./site.ts";

type Files = readonly (readonly [string, string | Buffer])[];

const documented = {
  all: [integrationApi, messagingApi],
  integration: [integrationApi],
  messaging: [messagingApi],
} as const;

/** The operation that an example of the guides in several languages calls: `lib/docs/examples/login.md`. */
const exampleOf = {
  login: "login",
  refresh: "refresh",
  readEmployees: "employees",
  getTicket: "profile",
  sendMessage: "message",
  sendImage: "media",
  cancelMessage: "schedule",
  listResidents: "page",
  searchResidents: "residents",
  listCategories: "tourism",
} as const;

/** Reads them anew: a running system builds the documentation again when they change. */
const readSamples = (): CodeSamples =>
  Object.fromEntries(
    Object.entries(exampleOf).map(([operation, name]) => [
      operation,
      readExample(name).map(([lang, source]) => ({ lang, label: labels[lang], source })),
    ]),
  );

/** Composes an OpenAPI document of this version, with example addresses. */
const composeOpenapi = (name: DocumentName, language: Language) => {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return composeDocument(documented[name], version, language, readSamples());
};

const composeText = (name: DocumentName, language: Language): string =>
  `${JSON.stringify(composeOpenapi(name, language), null, 2)}\n`;

/** The endpoints of a document, for readers and searches without script. */
const listEndpoints = (language: Language) =>
  Object.entries(composeOpenapi("all", language).paths).flatMap(([path, item]) =>
    Object.entries(item as Record<string, { summary?: string }>).flatMap(([method, { summary }]) =>
      summary ? [{ method: method.toUpperCase(), path, summary }] : [],
    ),
  );

const composeSite = (): Files => {
  const site = buildSite(
    JSON.stringify(Object.fromEntries(languages.map((language) => [language, listEndpoints(language)]))),
  );
  return globSync("**/*.*", { cwd: site, exclude: [packageList] }).map(
    (name) => [name, readFileSync(`${site}/${name}`)] as const,
  );
};

/** Makes a folder contain these files. What is right stays untouched, because other processes may be reading it. */
const fillFolder = (folder: string, files: Files): void => {
  const names = new Set(files.map(([name]) => name));
  for (const name of globSync("**/*.*", { cwd: folder }))
    if (!names.has(name)) rmSync(`${folder}/${name}`, { recursive: true, force: true });
  for (const [name, content] of files) {
    const file = `${folder}/${name}`;
    if (existsSync(file) && readFileSync(file).equals(Buffer.from(content))) continue;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
};

/**
 * Writes the files that the documentation functions serve beside their bundles, and for tools `openapi.json` and the list of
 * packages in the site.
 *
 * @param folderOf returns the folder of a function's bundle. @param output folder of the build.
 */
export const writeDocumentation = (folderOf: (fn: string) => string, output: string): void => {
  const write = (fn: string, files: Files) => fillFolder(`${folderOf(fn)}/docs`, files);
  write(
    "docs/openapi",
    languages.flatMap((language) =>
      documentNames.map((name) => [`${name}.${language}.json`, composeText(name, language)] as const),
    ),
  );
  const site = composeSite();
  const isIndex = (name: string) => name === "index.html";
  write(
    "docs/page",
    site.filter(([name]) => isIndex(name) || name === "policy.txt"),
  );
  write(
    "docs/file",
    site.filter(([name]) => !isIndex(name)),
  );
  writeFileSync(`${output}/openapi.json`, composeText("all", "en"));
  // what the functions serve beside their own code, for the test of the SBOMs
  writeFileSync(`${output}/site-packages.json`, JSON.stringify(listSitePackages()));
};
