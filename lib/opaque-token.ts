import { createHash, randomBytes } from "node:crypto";

/** A new token of 256 random bits. @param prefix marks it as ours for secret scanners. */
export const mintToken = (prefix: string): string => prefix + randomBytes(32).toString("base64url");

/** SHA-256 of a presented token. No salt or stretching: 256 random bits cannot be guessed. */
export const digestToken = (token: string): Buffer => createHash("sha256").update(token).digest();
