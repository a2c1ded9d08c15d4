import { get } from "node:http";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync } from "node:zlib";
import { expect, inject } from "vitest";

const { baseUrl } = inject("city");

interface Answer {
  readonly headers: NodeJS.Dict<string | string[]>;
  /** The body as it was on the wire. */
  readonly wire: Buffer;
}

/** Sends a browser's request for a page or a file. */
export const load = (path: string, headers: Record<string, string> = {}) =>
  new Promise<Answer>((resolve, reject) => {
    get(`${baseUrl}${path}`, { headers: { accept: "*/*", ...headers } }, async (response) => {
      expect([path, response.statusCode]).toEqual([path, 200]);
      resolve({ headers: response.headers, wire: await buffer(response) });
    }).on("error", reject);
  });

/** The coding that a browser accepts. */
export const browser = { "accept-encoding": "gzip, deflate, br, zstd" };

const loaded = new Map<string, Promise<Answer>>();
const loadOnce = (path: string): Promise<Answer> => {
  const answer = loaded.get(path) ?? load(path, browser);
  loaded.set(path, answer);
  return answer;
};

/** A page's style sheets, scripts, pictures and icon, and the OpenAPI document that the reference shows. */
const inPage =
  /<(?:link|script|img|div)\b[^>]* (?:href|src|data-document)="([^"]+\.(?:css|js|svg|png|json)[^"]*)"/g;

/**
 * What a script imports, and the search's box, which it loads when the browser is idle. Other dynamic imports wait for
 * a click: the walk in `test/browser` fails if a page loads a file that is not counted here.
 */
const inScript = /(?:\bfrom|\bimport)\s*["'`](\.\/[^"'`]+)["'`]|\bimport\(["'`](\.\/ui-core[^"'`]+)["'`]\)/g;

const referencesIn = async (path: string): Promise<string[]> => {
  if (/\.(css|svg|png|json)\b/.test(path)) return [];
  const { headers, wire } = await loadOnce(path);
  const text = (headers["content-encoding"] === "br" ? brotliDecompressSync(wire) : wire).toString();
  return [...text.matchAll(path.endsWith(".js") ? inScript : inPage)].map(([, one, idle]) => {
    const { pathname, search } = new URL(one ?? idle ?? "", `${baseUrl}${path}`);
    return pathname + search;
  });
};

/** Lists a page and the built files that it references, by their paths. */
export const listFiles = async (page: string): Promise<string[]> => {
  const files = new Set([page]);
  for (const file of files) for (const reference of await referencesIn(file)) files.add(reference);
  return [...files];
};

/** Sums the bytes of a page and its files as a browser gets them. */
export const weigh = async (page: string): Promise<number> => {
  const answers = await Promise.all((await listFiles(page)).map(loadOnce));
  return answers.reduce((sum, { wire }) => sum + wire.length, 0);
};
