import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Assets } from "./page.ts";
import { referenceScript, referenceStyle } from "./reference.ts";

/** The two stored forms of a file: brotli for browsers, gzip for clients without it. */
interface Compressed {
  readonly name: string;
  readonly files: Readonly<Record<string, Buffer>>;
}

/** Brotli's quality 9 makes 394 KB of the script in 1 s, 11 makes 359 KB in 10 s; gzip's best is 459 KB. */
const quality = 9;

const compress = (base: string, ending: "js" | "css", text: string): Compressed => {
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 16);
  const name = `${base}.${digest}.${ending}`;
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality };
  return {
    name,
    files: {
      [`${name}.br`]: brotliCompressSync(text, { params }),
      [`${name}.gz`]: gzipSync(text, { level: 9 }),
    },
  };
};

const read = (name: string) => readFileSync(new URL(name, import.meta.url), "utf8");

/** Compressed once in a process: a watching build writes the documentation after each change. */
let script: Compressed | undefined;

/** Returns the pages' script and style sheets, compressed, and their names. */
export const composeAssets = (): { assets: Assets; files: Readonly<Record<string, Buffer>> } => {
  script ??= compress("reference", "js", referenceScript());
  const page = compress("page", "css", read("page.css"));
  const reference = compress("reference", "css", `${referenceStyle()}\n${read("reference.css")}`);
  return {
    assets: { pageStyle: page.name, referenceStyle: reference.name, referenceScript: script.name },
    files: { ...page.files, ...reference.files, ...script.files },
  };
};
