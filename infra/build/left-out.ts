import { readFileSync } from "node:fs";
import type * as esbuild from "esbuild";

/** Replaces a library's module in the bundles: V8 scans all of a bundle in a cold start, 0.06 ms for 1 KB. */
interface Replacement {
  readonly file: RegExp;
  readonly make: (source: string) => string;
}

/** A module whose exports fail when they are called. */
const absent = (...names: readonly string[]) =>
  names
    .map((name) => {
      const declared = name === "default" ? "default function" : `function ${name}`;
      return `export ${declared}() { throw new Error("${name} is left out of the bundle") }`;
    })
    .join("\n");

const inSmithy = (path: string) => new RegExp(`/@smithy/core/dist-es/submodules/${path}\\.js$`);

/** The schema of each operation, with its name and without its members. */
const nameOperations = (source: string) =>
  Array.from(
    source.matchAll(/^export var (\w+)\$ = \[9,/gm),
    ([, name]) =>
      `export const ${name}$ = [9, "com.amazonaws.secretsmanager", "${name}", 0, "unit", "unit"];`,
  );

/** What the bundles would contain but never call, and why. */
const replacements: readonly Replacement[] = [
  // credentials come from the environment (lib/secrets/secrets-manager.ts): the discovery chain is 130 KB and 10 ms
  {
    file: /\/@aws-sdk\/credential-provider-node\/dist-es\/index\.js$/,
    make: () => absent("defaultProvider"),
  },
  // Secrets Manager has no streaming operation: 13 KB, and 2 KB of their signatures
  {
    file: inSmithy("event-streams/index"),
    make: () => absent("EventStreamSerde", "eventStreamSerdeProvider"),
  },
  {
    file: /\/@smithy\/signature-v4\/dist-es\/HeaderFormatter\.js$/,
    make: () => "export class HeaderFormatter { format() { throw new Error('left out of the bundle') } }",
  },
  // the protocol is given (lib/secrets/json-protocol.ts): another one and the schemas of all operations are 35 KB
  {
    file: /\/@aws-sdk\/core\/dist-es\/submodules\/protocols\/index\.js$/,
    make: () => absent("AwsJson1_1Protocol"),
  },
  {
    file: /\/@aws-sdk\/client-secrets-manager\/dist-es\/schemas\/schemas_0\.js$/,
    make: (source) => ["export const errorTypeRegistries = [];", ...nameOperations(source)].join("\n"),
  },
  // the endpoint is given: its rules and the partitions of AWS are 11 KB
  {
    file: /\/@aws-sdk\/client-secrets-manager\/dist-es\/endpoint\/endpointResolver\.js$/,
    make: () => absent("defaultEndpointResolver"),
  },
  {
    file: /\/@aws-sdk\/core\/dist-es\/submodules\/client\/util-endpoints\/lib\/aws\/partition\.js$/,
    make: () =>
      `export const getUserAgentPrefix = () => "";\n${absent("partition", "setPartitionInfo", "useDefaultPartitionInfo")}`,
  },
  {
    file: inSmithy("endpoints/middleware-endpoint/service-customizations/index"),
    make: () => absent("resolveParamsForS3"),
  },
  // the configuration is given: files, which the first request would look for, and a virtual machine's metadata are 5 KB
  {
    file: inSmithy("config/node-config-provider/configLoader"),
    make: () =>
      "export const loadConfig = () => () => { throw new Error('the discovery of settings is left out of the bundle') }",
  },
  {
    file: inSmithy("config/config-resolver/regionConfig/getInstanceMetadataRegion"),
    make: () => absent("getInstanceMetadataRegion"),
  },
  // Node has SHA-256: 3 KB
  { file: inSmithy("checksum/sha256/Sha256Js"), make: () => absent("Sha256Js") },
  // `retryMode` is `standard`: 3 KB
  { file: inSmithy("retry/util-retry/AdaptiveRetryStrategy"), make: () => absent("AdaptiveRetryStrategy") },
  // marks calls of services that might invoke this function again: 3 KB
  {
    file: /\/middleware-recursion-detection\/recursionDetectionMiddleware\.js$/,
    make: () => "export const recursionDetectionMiddleware = () => (next) => next",
  },
  // the client reads only its version: 2 KB
  {
    file: /\/@aws-sdk\/client-secrets-manager\/package\.json$/,
    make: (source) => `export default { version: "${JSON.parse(source).version}" }`,
  },
  // logical replication and large objects: 5 KB
  {
    file: /\/postgres\/src\/subscribe\.js$/,
    make: () => "export default () => () => { throw new Error('replication is left out of the bundle') }",
  },
  { file: /\/postgres\/src\/large\.js$/, make: () => absent("default") },
];

/** middy names an error by its status: 3 ms where nothing else needs HTTP. */
const lazyStatusCodes =
  'export const STATUS_CODES = new Proxy({}, { get: (_, code) => process.getBuiltinModule("node:http").STATUS_CODES[code] })';

/** Replaces modules of libraries in bundles. The build fails for a replacement of a module that is not there any more. */
export const leaveOut: esbuild.Plugin = {
  name: "leave-out",
  setup(build) {
    const unused = new Set(replacements.map(({ file }) => file));
    for (const { file, make } of replacements)
      build.onLoad({ filter: new RegExp(file.source.replaceAll("\\/", "[\\\\/]")) }, ({ path }) => {
        unused.delete(file);
        return { contents: make(readFileSync(path, "utf8")), loader: "js" };
      });
    build.onEnd(() => ({
      errors: Array.from(unused, ({ source }) => ({
        text: `no module is ${source}: revise what is left out`,
      })),
    }));
    build.onResolve({ filter: /^node:http$/ }, ({ path, importer }) =>
      /[\\/]@middy[\\/]util[\\/]/.test(importer) ? { path, namespace: "left-out" } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: "left-out" }, () => ({ contents: lazyStatusCodes }));
  },
};
