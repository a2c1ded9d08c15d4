import { gunzipSync } from "node:zlib";
import { PlainReply } from "#lib/routes/route.ts";
import { findBytes } from "./built.ts";
import { accepts } from "./page-reply.ts";

const mediaTypes: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  png: "image/png",
  json: "application/json",
};

/** The search's index and its WebAssembly. */
const searchFile = /^pagefind\/.*(pagefind|pf_\w+)$/;

/** Files that are stored in two codings, and the ending of each, the smallest file first. */
const stored = /\.(js|css|svg)$/;
const codings = { br: "br", gzip: "gz" } as const;

/** The folder of scripts and style sheets has a digest of their contents, so a browser asks once in a year. */
const cacheOf = (path: string) =>
  path.startsWith("_astro-") ? { "cache-control": "public, max-age=31536000, immutable" } : {};

/**
 * Returns a file of the site, or undefined: a script or style sheet in the coding that the build stored, or as text for
 * clients that accept none.
 */
export const findAsset = (path: string, acceptEncoding: string): PlainReply | undefined => {
  const type = searchFile.test(path) ? "application/octet-stream" : mediaTypes[path.split(".").at(-1) ?? ""];
  if (!type) return undefined;
  const headers = { "content-type": type, ...cacheOf(path) };
  if (!stored.test(path)) {
    const bytes = findBytes(path);
    return bytes && new PlainReply(bytes, headers);
  }
  const coding = (["br", "gzip"] as const).find((known) => accepts(acceptEncoding, known));
  const bytes = findBytes(`${path}.${codings[coding ?? "gzip"]}`);
  return (
    bytes &&
    new PlainReply(coding ? bytes : gunzipSync(bytes).toString(), {
      ...headers,
      vary: "accept-encoding",
      ...(coding && { "content-encoding": coding }),
    })
  );
};
