import { createHash, hash, randomBytes, timingSafeEqual } from "node:crypto";

/** Returns a new token of 256 random bits. @param prefix lets secret scanners recognise it. */
export const mintToken = (prefix: string): string => prefix + randomBytes(32).toString("base64url");

/** Whether a text has the form of a token with this prefix. */
export const isToken = (prefix: string, text: string): boolean =>
  text.startsWith(prefix) && /^[\w-]{43}$/.test(text.slice(prefix.length));

/** Returns the SHA-256 of a token. No salt or stretching: 256 random bits cannot be guessed. */
export const digestToken = (token: string): Buffer => createHash("sha256").update(token).digest();

const digest = (text: string) => hash("sha256", text, "buffer");

/** Compares two texts in constant time, by digests of equal length. */
export const isSameText = (one: string, other: string): boolean =>
  timingSafeEqual(digest(one), digest(other));
