import { globSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Every module under `functions/`, such as `resident/list`: each is one deployable. */
export const listFunctions = (): string[] =>
  globSync("**/*.ts", { cwd: `${root}functions` }).map((file) =>
    file.replace(/\.ts$/, "").replaceAll("\\", "/"),
  );

/** A module's name where a slash has another meaning: in folders, AWS names and construct ids. */
export const functionName = (fn: string): string => fn.replaceAll("/", "-");

/** The folder of a function's bundle: `index.mjs` with the export `handler`, as Lambda starts it. */
export const bundleFolder = (fn: string): string => `${root}dist/${functionName(fn)}`;

/**
 * `import "node:http"` in ESM costs about 25 ms of cold start: its facade touches lazy getters that load
 * undici. The AWS SDK and middy import it; the built-in itself has no such cost.
 */
const builtinHttp: esbuild.Plugin = {
  name: "builtin-http",
  setup(build) {
    build.onResolve({ filter: /^(node:)?https?$/ }, ({ path }) => ({
      path: path.replace(/^node:/, ""),
      namespace: "builtin-http",
    }));
    build.onLoad({ filter: /.*/, namespace: "builtin-http" }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule("node:${path}")`,
    }));
  },
};

/** Modules that the bundles carry but never call: what stands in their place, and why. */
const leftOut = {
  // credentials come from the environment (lib/secret.ts): the discovery chain is 130 KB and 10 ms
  "@aws-sdk/credential-provider-node": "export const defaultProvider = undefined",
  // Secrets Manager has no streaming operation: 13 KB
  "@smithy/core/event-streams":
    "export const EventStreamSerde = undefined, eventStreamSerdeProvider = undefined",
  // logical replication: 4 KB
  "./subscribe.js": "export default () => () => { throw new Error('replication is left out of the bundle') }",
};

const leaveOut: esbuild.Plugin = {
  name: "leave-out",
  setup(build) {
    build.onResolve(
      { filter: /^(@aws-sdk\/credential-provider-node|@smithy\/core\/event-streams)$/ },
      ({ path }) => ({
        path,
        namespace: "left-out",
      }),
    );
    build.onResolve({ filter: /^\.\/subscribe\.js$/ }, ({ path, importer }) =>
      /[\\/]postgres[\\/]/.test(importer) ? { path, namespace: "left-out" } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: "left-out" }, ({ path }) => ({
      contents: leftOut[path as keyof typeof leftOut],
    }));
  },
};

/** Packages that are CommonJS call `require`, which an ES module does not have. */
const requireBanner =
  'import{createRequire as __createRequire}from"node:module";const require=__createRequire(import.meta.url);';

const options = (): esbuild.BuildOptions => ({
  absWorkingDir: root,
  entryPoints: listFunctions().map((fn) => ({
    in: `functions/${fn}.ts`,
    out: `${functionName(fn)}/index`,
  })),
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
  banner: { js: requireBanner },
  plugins: [builtinHttp, leaveOut],
  logLevel: "silent",
});

/** Builds every bundle. @throws esbuild.BuildFailure with the places that do not build. */
export const build = () => esbuild.build({ ...options(), metafile: true });

/**
 * Builds every bundle and again after each change of its sources, until `dispose()`. The files are written
 * here: esbuild itself would remove the last good bundles after a build that failed.
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
  const { plugins = [], ...rest } = options();
  const context = await esbuild.context({ ...rest, write: false, plugins: [...plugins, report] });
  await context.watch();
  return context;
};

if (import.meta.main) {
  const { metafile } = await build();
  for (const [file, { bytes }] of Object.entries(metafile.outputs))
    if (file.endsWith(".mjs")) console.log(`${(bytes / 1024).toFixed(0).padStart(5)} KB  ${file}`);
}
