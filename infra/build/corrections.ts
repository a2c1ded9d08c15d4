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

/** Replaces texts that a source has exactly once. */
const replace =
  (changes: Readonly<Record<string, string>>) =>
  (source: string): string | undefined => {
    if (Object.keys(changes).some((text) => source.split(text).length !== 2)) return undefined;
    return Object.entries(changes).reduce((text, [from, to]) => text.replace(from, () => to), source);
  };

const guard = `if (socket === null) {
  const lost = Errors.connection("CONNECTION_CLOSED", options)
  chunk = nextWriteTimer = null
  query && queryError(query, lost)
  while (sent.length) queryError(sent.shift(), lost)
  query = null
  setImmediate(() => connection.queue === queues.connecting || onclose(connection, lost))
  return true
}`;

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
const guardWrites = {
  "const x = socket.write(chunk, fn)": `${guard}\nconst x = socket.write(chunk, fn)`,
  "clearImmediate(nextWriteTimer)\n    socket.removeListener":
    "clearImmediate(nextWriteTimer)\n    chunk = nextWriteTimer = errorResponse = null\n    socket.removeListener",
};

/**
 * A statement that is not kept waits twice for the server: for the types of its parameters, then for its rows. The functions
 * pass texts, numbers and bytes, whose types the server finds by itself.
 */
const sendAtOnce = {
  "(parameters.length && !q.prepared)": "(parameters.length && q.prepare && !q.prepared)",
};

/**
 * When the other side ends a connection before the first query, postgres.js opens it again without a pause, for as long as
 * that happens: 2,000 times a second. Rejects the query instead; the next one waits for `backoff`.
 *
 * @see https://github.com/porsager/postgres/issues/1193
 */
const failStart = {
  "if (initial)\n      return reconnect()\n\n    !hadError && (query ||": "!hadError && (initial || query ||",
};

const wrongServer = `errorResponse.code === "25006" && !connection.reserved && !query.cursorFn && !query.moved
            ? (query.active = query.state = null, query.moved = true, query.handler(query))
            : errored(errorResponse)`;

/**
 * After a failover, a connection may lead to the former primary, which only reads (25006), and each write on it would fail.
 * Closes all connections of the pool, so that the server's name is resolved anew, and repeats the rejected statement once:
 * it has changed nothing. A transaction is not repeated. `end` would also take connections that are not open out of the pool.
 */
const leaveReadOnlyServer = {
  "onclose = noop } = {}": "onclose = noop, close = noop } = {}",
  "!connection.reserved && onend(connection),":
    "!connection.reserved && connection.queue !== queues.closed && onend(connection),",
  "errorResponse = Errors.postgres(parseError(x))\n    } else":
    'errorResponse = Errors.postgres(parseError(x))\n      errorResponse.code === "25006" && close()\n    } else',
  "? retry(query, errorResponse)\n            : errored(errorResponse)": `? retry(query, errorResponse)\n            : ${wrongServer}`,
};

/** A query that is cancelled while the server is gone rejects a promise that nobody has, which ends the process. */
const catchCancels = {
  "this.canceller(this), this.canceller = null":
    "this.canceller(this).catch(() => {}), this.canceller = null",
};

/**
 * The platform keeps a message whose ack has an error, delivers it first at each login, and holds back all others. So what needs
 * no second delivery gets an ack without an error: ignored chats, what was read before, and what cannot be decrypted, which the
 * sender's phone is asked for. A message that was read gets one as well, beside its receipt.
 *
 * @see https://github.com/WhiskeySockets/Baileys/pull/2779
 * @see https://github.com/WhiskeySockets/Baileys/issues/2810
 * @see https://github.com/oxidezap/whatsapp-rust/pull/647
 */
const acknowledge = {
  "type === 'message' ? NACK_REASONS.UnhandledError : undefined": "undefined",
  "sendMessageAck(node, NACK_REASONS.MissingMessageSecret)": "sendMessageAck(node)",
  "sendMessageAck(node, NACK_REASONS.ParsingError)": "sendMessageAck(node)",
  "sendMessageAck(node, NACK_REASONS.UnhandledError);": "sendMessageAck(node);",
  // a Boom: the stanza itself is wrong, and would be so again; a code: the database failed, and the message is to come again
  "sendMessageAck(node, NACK_REASONS.UnhandledError).catch":
    "(error?.code ? ws.close() : sendMessageAck(node, error?.isBoom ? undefined : NACK_REASONS.UnhandledError)).catch",
  "await sendReceipt(msg.key.remoteJid, participant, [msg.key.id], type);":
    "await sendReceipt(msg.key.remoteJid, participant, [msg.key.id], type);\nawait sendMessageAck(node);",
};

const corrections: readonly Correction[] = [
  { file: /[\\/]libsignal[\\/].*\.js$/, correct: silence },
  {
    file: /[\\/]postgres[\\/]src[\\/]connection\.js$/,
    correct: replace({ ...guardWrites, ...sendAtOnce, ...failStart, ...leaveReadOnlyServer }),
  },
  {
    file: /[\\/]postgres[\\/]src[\\/]index\.js$/,
    correct: replace({ "{ onopen, onend, onclose }": "{ onopen, onend, onclose, close }" }),
  },
  { file: /[\\/]postgres[\\/]src[\\/]query\.js$/, correct: replace(catchCancels) },
  { file: /[\\/]baileys[\\/]lib[\\/]Socket[\\/]messages-recv\.js$/, correct: replace(acknowledge) },
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
