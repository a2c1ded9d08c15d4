import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { placeholderBase } from "#lib/docs/built.ts";
import { languages } from "#lib/openapi/words.ts";
import { prefixes, writeContent } from "./content.ts";
import { guideNames, readers } from "./guide.ts";
import { polish } from "./polish.ts";
import { words } from "./words.ts";

/** Written by the site's build, and not part of the site. */
export const packageList = "packages.json";

const root = fileURLToPath(new URL("../..", import.meta.url));
const source = fileURLToPath(new URL("site/", import.meta.url));
const astro = `${dirname(createRequire(import.meta.url).resolve("astro/package.json"))}/bin/astro.mjs`;

const digestFiles = (patterns: string[]): string => {
  const hash = createHash("sha256");
  for (const file of globSync(patterns, { cwd: root }).toSorted())
    if (statSync(`${root}${file}`).isFile()) hash.update(file).update(readFileSync(`${root}${file}`));
  return hash.digest("hex");
};

/** Of the code that this process has loaded: a process that watches continues with it when a file changes. */
const code = digestFiles(["infra/docs/*.ts", "lib/docs/built.ts", "package.json"]);

/** What the pages depend on. The reference loads the OpenAPI document when it is read. */
const digestInput = (endpoints: string): string =>
  createHash("sha256")
    .update(code)
    .update(endpoints)
    .update(digestFiles(["lib/docs/{guides,examples,pictures}/**", "infra/docs/site/**"]))
    .digest("hex")
    .slice(0, 16);

/** What the site's configuration reads, which cannot import TypeScript from outside the site. */
const composeSettings = (endpoints: string): string =>
  JSON.stringify({
    base: `${placeholderBase}/docs`,
    words,
    endpoints: JSON.parse(endpoints),
    groups: readers.map(({ label, guides }) => ({
      label: label.en,
      translations: { id: label.id },
      items: [...guides],
    })),
  });

const runAstro = (work: string): void => {
  execFileSync(process.execPath, [astro, "build", "--root", work, "--silent"], {
    cwd: work,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ASTRO_TELEMETRY_DISABLED: "1", HOME: work, NODE_ENV: "production" },
  });
};

/**
 * Writes the search's index again: Starlight stops Pagefind as soon as it has answered, when files may still be empty or cut
 * off (Pagefind #1271, in 1.5.2). The command ends after its last write.
 */
const indexPages = (folder: string): void => {
  rmSync(`${folder}/pagefind`, { recursive: true });
  const command = `${root}node_modules/pagefind/lib/runner/bin.cjs`;
  execFileSync(process.execPath, [command, "--silent", "--site", folder], {
    stdio: ["ignore", "inherit", "inherit"],
  });
};

/** @throws Error if a page is missing, because Starlight leaves out what it cannot read. */
const verify = (folder: string): void => {
  for (const language of languages)
    for (const name of [...guideNames, "reference", "404"])
      if (!existsSync(`${folder}/${prefixes[language]}${name}.html`))
        throw new Error(`the site has no page ${prefixes[language]}${name}`);
};

/** The site that this process has read last. */
let current: string | undefined;

/** Lists the package folders whose code is in the site's scripts and style sheets. The site must have been built. */
export const listSitePackages = (): readonly string[] => {
  if (!current) throw new Error("the site has not been built");
  return JSON.parse(readFileSync(`${current}/${packageList}`, "utf8"));
};

/** Brotli's quality 9 takes 1.5 s for the reference's scripts, 11 takes 15 s and saves a tenth. */
const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };

/**
 * Replaces the text files of a site by their two stored forms: brotli for browsers, gzip for clients without it. Pages stay: they
 * get their addresses when they are read. Pictures of pixels are compressed already.
 */
const compressAssets = (folder: string): void => {
  for (const name of globSync("**/*.{js,css,svg}", { cwd: folder })) {
    const file = `${folder}/${name}`;
    const content = readFileSync(file);
    writeFileSync(`${file}.br`, brotliCompressSync(content, { params }));
    writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
    rmSync(file);
  }
};

/** Older sites stay for other checkouts that use the same packages. */
const kept = 12;

const store = (built: string, cache: string, site: string): void => {
  mkdirSync(cache, { recursive: true });
  const age = (name: string) => statSync(`${cache}/${name}`).mtimeMs;
  const others = readdirSync(cache).toSorted((a, b) => age(b) - age(a));
  for (const name of others.slice(kept)) rmSync(`${cache}/${name}`, { recursive: true, force: true });
  // another process may have stored the same site
  if (!existsSync(site)) renameSync(built, site);
};

/**
 * Builds the documentation site, or returns the one that was built of the same sources: a build takes 15 s.
 *
 * @param endpoints the endpoints in each language, as JSON. @returns the folder of the site.
 */
export const buildSite = (endpoints: string): string => {
  const cache = `${root}node_modules/.cache/documentation`;
  const site = `${cache}/${digestInput(endpoints)}`;
  if (!existsSync(site)) {
    // beside the packages' real folder, which may be linked: astro takes a path without common folder for one below the site
    const dist = `${dirname(realpathSync(`${root}node_modules`))}/dist`;
    mkdirSync(dist, { recursive: true });
    const work = mkdtempSync(`${dist}/documentation-`);
    cpSync(source, work, { recursive: true });
    cpSync(`${root}lib/docs/pictures`, `${work}/public/pictures`, { recursive: true });
    writeContent(`${work}/src/content/docs`);
    writeFileSync(`${work}/settings.json`, composeSettings(endpoints));
    runAstro(work);
    indexPages(`${work}/built`);
    verify(`${work}/built`);
    polish(`${work}/built`);
    compressAssets(`${work}/built`);
    renameSync(`${work}/${packageList}`, `${work}/built/${packageList}`);
    store(`${work}/built`, cache, site);
    rmSync(work, { recursive: true, force: true });
  }
  current = site;
  return site;
};
