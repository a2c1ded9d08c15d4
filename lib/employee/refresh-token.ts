import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { mintToken } from "#lib/opaque-token.ts";

/** A new refresh token. It is shown to its holder; the database keeps its digest. */
export const mintRefreshToken = (): string => mintToken("mir_");

const algorithm = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

/** 256 random bits need no stretching; the label keeps this key apart from other uses of the token. */
const keyFrom = (token: string) => Buffer.from(hkdfSync("sha256", token, "", "successor", 32));

/**
 * Encrypts a token's successor with a key that only the token gives (AES-256-GCM; RFC 5869): whoever reads
 * the database can use neither, but who presents the token again can be answered the same successor.
 *
 * @returns nonce, ciphertext and tag in one.
 */
export const sealSuccessor = (token: string, successor: string): Buffer => {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, keyFrom(token), nonce);
  return Buffer.concat([nonce, cipher.update(successor, "utf8"), cipher.final(), cipher.getAuthTag()]);
};

/** @throws Error when it was sealed with another token, or changed. */
export const openSuccessor = (token: string, sealed: Uint8Array): string => {
  const decipher = createDecipheriv(algorithm, keyFrom(token), sealed.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  });
  decipher.setAuthTag(sealed.subarray(-tagBytes));
  const ciphertext = sealed.subarray(nonceBytes, -tagBytes);
  return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString("utf8");
};
