import type { SocketConfig } from "baileys";
import { verifySignature as verify } from "whatsapp-rust-bridge";
import { log } from "#lib/log.ts";
import { errorCode, errorName } from "../channel.ts";

type Logger = SocketConfig["logger"];

/*
 * baileys logs texts, numbers, stanzas and keys. Only the name and code of an error are logged, and of its
 * messages those listed here: others contain values.
 */
const knownMessages = new Set([
  "Failed to check/upload pre-keys during initialization",
  "Failed to create own LID session",
  "Failed to encrypt for recipient",
  "Failed to upload pre-keys to server",
  "USync fetch yielded no results for pending PNs",
  "error 463: account restricted or missing tctoken for contact",
  "error in handling message",
  "error in sending keep alive",
  "error in sending message again",
  "error in socket end handler",
  "error in validating connection",
  "failed to ack receipt",
  "failed to assert sessions for newly mapped LIDs",
  "failed to run digest after login",
  "failed to send initial passive iq",
  "failed to store tctokens from history sync",
  "failed to store user device lists",
  "keep alive called when WS not open",
  "received error in ack",
  "timed out waiting for message",
  "transaction failed, rolling back",
  "unexpected error in 'init queries'",
]);

/** The LID of a LID is no mapping; the link has no name; whatsapp.ts logs how a connection ended. */
const expected = /^Invalid LID-PN mapping|^no name present|^stream errored out$/;

const errorKeys = ["err", "error", "e", "uploadError", "ackErr"];

const findError = (fields: unknown): unknown => {
  if (fields instanceof Error || typeof fields !== "object" || fields === null) return fields;
  return errorKeys.map((key) => (fields as Record<string, unknown>)[key]).find((value) => value);
};

const report = (level: "warn" | "error", fields: unknown, message?: string) => {
  const text = typeof fields === "string" ? fields : message;
  if (text !== undefined && expected.test(text)) return;
  const error = findError(fields);
  log[level]("baileys reported", {
    about: text !== undefined && knownMessages.has(text) ? text : undefined,
    ...(error instanceof Error && { error_name: errorName(error), error_code: errorCode(error) }),
  });
};

const ignore = () => {};

/**
 * A logger for baileys: warnings and errors without their values.
 *
 * @param isClosed stops the logging: errors on a closed connection are expected.
 */
export const libraryLog = (isClosed: () => boolean): Logger => {
  const logger: Logger = {
    level: "warn",
    child: () => logger,
    trace: ignore,
    debug: ignore,
    info: ignore,
    warn: (fields, message) => void (isClosed() || report("warn", fields, message)),
    error: (fields, message) => void (isClosed() || report("error", fields, message)),
  };
  return logger;
};

let isMuted = false;

/**
 * Drops what libsignal prints to the console: whole Signal sessions, private ratchet keys included. Bundles
 * do not contain the calls (infra/build/corrections.ts); this covers running from the sources.
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

/**
 * Verifies an XEdDSA signature, the kind that Signal makes with Curve25519 keys.
 *
 * baileys' own `Curve.verify` ignores the result: it returns true unless the library throws.
 *
 * @param publicKey 32 bytes, or 33 with the leading 5 of Signal's encoding.
 */
export const verifySignature: typeof verify = (publicKey, message, signature) => {
  try {
    return verify(publicKey, message, signature);
  } catch {
    return false; // invalid length
  }
};
