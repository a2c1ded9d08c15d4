import { readFileSync } from "node:fs";
import type * as esbuild from "esbuild";

/** A change to a library's source, made when it is bundled or tested. */
interface Correction {
  readonly file: RegExp;
  /** @returns undefined for a source that it does not know. */
  readonly correct: (source: string) => string | undefined;
}

/** libsignal prints whole sessions to the console, private ratchet keys included, and has no configurable logger. */
const silence = (source: string) => {
  const silent = source.replace(/\bconsole\.\w+\(/g, "void (");
  return /\bconsole\b/.test(silent) ? undefined : silent;
};

const unguarded = "const x = socket.write(chunk, fn)";
const guard = `if (socket === null) {
  const lost = Errors.connection("CONNECTION_CLOSED", options)
  chunk = nextWriteTimer = null
  query && queryError(query, lost)
  while (sent.length) queryError(sent.shift(), lost)
  query = null
  setImmediate(() => connection.queue === queues.connecting || onclose(connection, lost))
  return true
}`;
const stale = "clearImmediate(nextWriteTimer)\n    socket.removeListener";

/**
 * postgres.js 3.4.9 may write to a connection after it has closed. The write comes from a callback, so its TypeError
 * ends the process. Rejects the queries of that connection instead, and lets the pool open it again: later, because
 * the pool still moves the connection between its queues after the write. A connection that closes before its next
 * write would also hold that write, and could not be opened again. One that the server ended during a query would
 * report that to the first query after it was opened again, too.
 *
 * @see https://github.com/porsager/postgres/issues/1208
 * @see https://github.com/porsager/postgres/issues/1223
 */
const guardWrites = (source: string) =>
  [unguarded, stale].every((text) => source.split(text).length === 2)
    ? source
        .replace(unguarded, `${guard}\n${unguarded}`)
        .replace(stale, stale.replace("\n", "\n    chunk = nextWriteTimer = errorResponse = null\n"))
    : undefined;

const describes = "q.onlyDescribe || (parameters.length && !q.prepared)";

/**
 * A statement that is not kept waits twice for the server: for the types of its parameters, then for its rows. The functions
 * pass texts, numbers and bytes, whose types the server finds by itself.
 */
const sendAtOnce = (source: string) =>
  source.split(describes).length === 2
    ? source.replace(describes, describes.replace("&&", "&& q.prepare &&"))
    : undefined;

const cancels = "this.canceller(this), this.canceller = null";

/** A query that is cancelled while the server is gone rejects a promise that nobody has, which ends the process. */
const catchCancels = (source: string) =>
  source.split(cancels).length === 2
    ? source.replace(cancels, "this.canceller(this).catch(() => {}), this.canceller = null")
    : undefined;

const corrections: readonly Correction[] = [
  { file: /[\\/]libsignal[\\/].*\.js$/, correct: silence },
  {
    file: /[\\/]postgres[\\/]src[\\/]connection\.js$/,
    correct: (source) => sendAtOnce(guardWrites(source) ?? ""),
  },
  { file: /[\\/]postgres[\\/]src[\\/]query\.js$/, correct: catchCancels },
];

/** @returns the corrected source; undefined for a file that needs none. @throws Error for an unknown version. */
export const correct = (path: string, source: string): string | undefined => {
  const correction = corrections.find(({ file }) => file.test(path));
  if (!correction) return undefined;
  const corrected = correction.correct(source);
  if (corrected === undefined) throw new Error(`${path} has changed: revise its correction`);
  return corrected;
};

/** Corrects libraries in bundles. */
export const correctLibraries: esbuild.Plugin = {
  name: "correct-libraries",
  setup(build) {
    for (const { file } of corrections)
      build.onLoad({ filter: file }, ({ path }) => {
        const contents = correct(path, readFileSync(path, "utf8"));
        return contents === undefined ? undefined : { contents, loader: "js" };
      });
  },
};
