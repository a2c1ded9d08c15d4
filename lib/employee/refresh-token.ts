import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";
import { mintToken } from "#lib/opaque-token.ts";
import { networkOf } from "./attempt.ts";

/** Returns a new refresh token. Only its digest is stored. */
export const mintRefreshToken = (): string => mintToken("mir_");

const algorithm = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

/** 256 random bits need no key stretching; the label separates this key from other uses of the token. */
const keyFrom = (token: string) => Buffer.from(hkdfSync("sha256", token, "", "successor", 32));

/**
 * Encrypts a token's successor with a key derived from the token (AES-256-GCM; RFC 5869): a reader of the database
 * can use neither, but a client that presents the token again gets the same successor.
 *
 * @returns nonce, ciphertext and tag, concatenated.
 */
export const sealSuccessor = (token: string, successor: string): Buffer => {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, keyFrom(token), nonce);
  return Buffer.concat([nonce, cipher.update(successor, "utf8"), cipher.final(), cipher.getAuthTag()]);
};

/** Who presents a refresh token. */
export interface Client {
  readonly address: string;
  readonly userAgent: string;
}

/**
 * Digests the client's network and user agent with the token as key, which is not stored: a reader of the database
 * cannot guess the address.
 */
export const digestClient = (token: string, { address, userAgent }: Client): Buffer =>
  createHmac("sha256", token)
    .update(`${networkOf(address)}\n${userAgent}`)
    .digest();

/** @throws Error when it was encrypted with another token, or changed. */
export const openSuccessor = (token: string, sealed: Uint8Array): string => {
  const decipher = createDecipheriv(algorithm, keyFrom(token), sealed.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  });
  decipher.setAuthTag(sealed.subarray(-tagBytes));
  const ciphertext = sealed.subarray(nonceBytes, -tagBytes);
  return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString("utf8");
};
