import type { SocketConfig } from "baileys";
import { log } from "#lib/log.ts";
import { errorCode, errorName } from "../channel-failure.ts";

type Logger = SocketConfig["logger"];

/*
 * baileys logs what it works with: texts, numbers, stanzas, keys. Of all that only the name and code of an
 * error pass, and of its messages those that stand here word for word, because others have values in them.
 */
const knownMessages = new Set([
  ...["transaction failed, rolling back", "error in handling message", "Failed to encrypt for recipient"],
  ...["error in validating connection", "error in socket end handler", "unexpected error in 'init queries'"],
  ...["failed to send initial passive iq", "failed to run digest after login"],
  ...["Failed to check/upload pre-keys during initialization", "Failed to upload pre-keys to server"],
  ...[
    "Failed to create own LID session",
    "error in sending keep alive",
    "keep alive called when WS not open",
  ],
  ...["timed out waiting for message", "error in sending message again", "failed to ack receipt"],
  ...["failed to assert sessions for newly mapped LIDs", "failed to store user device lists"],
  ...["error 463: account restricted or missing tctoken for contact", "received error in ack"],
]);

/** No history is what we want; a session has no name of its own; how a connection ended is logged by us. */
const expected = /DISABLING ALL SYNC|^no name present|^stream errored out$/;

const errorKeys = ["err", "error", "e", "uploadError", "ackErr"];

const findError = (fields: unknown): unknown => {
  if (fields instanceof Error || typeof fields !== "object" || fields === null) return fields;
  return errorKeys.map((key) => (fields as Record<string, unknown>)[key]).find((value) => value);
};

const pass = (level: "warn" | "error", fields: unknown, message?: string) => {
  const text = typeof fields === "string" ? fields : message;
  if (text !== undefined && expected.test(text)) return;
  const error = findError(fields);
  log[level]("the platform library reports", {
    about: text !== undefined && knownMessages.has(text) ? text : undefined,
    ...(error instanceof Error && { error_name: errorName(error), error_code: errorCode(error) }),
  });
};

const nothing = () => {};

/**
 * The logger for baileys: warnings and errors without what they are about.
 *
 * @param isOver ends it: what a library does with a connection that is no more fails, and should.
 */
export const libraryLog = (isOver: () => boolean): Logger => {
  const logger: Logger = {
    level: "warn",
    child: () => logger,
    trace: nothing,
    debug: nothing,
    info: nothing,
    warn: (fields, message) => void (isOver() || pass("warn", fields, message)),
    error: (fields, message) => void (isOver() || pass("error", fields, message)),
  };
  return logger;
};

let isMuted = false;

/**
 * Takes libsignal's words off the console: it prints whole sessions, private ratchet keys included. In
 * bundles the calls are cut out (infra/build/build.ts, `silenceLibsignal`); this is for where the sources run.
 */
export const muteLibsignal = (): void => {
  if (isMuted) return;
  isMuted = true;
  const target: Console = console;
  for (const method of ["log", "info", "warn", "error", "debug"] as const) {
    const print = target[method];
    target[method] = (...words: unknown[]) => {
      if (!/[\\/]libsignal[\\/]/.test(new Error().stack ?? "")) print.apply(target, words);
    };
  }
};
