import { createHash, randomBytes } from "node:crypto";

/** Marks our keys, so that a secret scanner finds one that was published by mistake. */
const prefix = "mia_";

/** A new API key: 256 random bits. It is shown once; only its digest is stored. */
export const mintKey = (): string => prefix + randomBytes(32).toString("base64url");

/** SHA-256 of a presented key. No salt or stretching: 256 random bits cannot be guessed. */
export const digestKey = (key: string): Buffer => createHash("sha256").update(key).digest();
