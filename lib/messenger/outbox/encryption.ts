import { createCipheriv, createDecipheriv, createSecretKey, randomBytes } from "node:crypto";
import type * as z from "zod/mini";
import type { messengerKeySchema } from "#lib/secrets/schemas.ts";

export type EncryptionKey = z.infer<ReturnType<typeof messengerKeySchema>>;

/** Authenticated encryption of values at rest. */
export interface Encryption {
  /** @param context where the value is stored, such as `auth_key/<account>/<type>/<id>`: authenticated, not stored. */
  encrypt(context: string, plaintext: Uint8Array): Buffer;
  /** @throws Error for another key, another context or a changed value, without saying which. */
  decrypt(context: string, encrypted: Uint8Array): Buffer;
}

/*
 * An encrypted value: format (1 byte) | nonce (12 bytes) | ciphertext | tag (16 bytes).
 * Nonces are random: one key is safe for 2^32 values (NIST SP 800-38D, 8.3), 136 years of one value a second.
 */
const format = 1;
const nonceBytes = 12;
const tagBytes = 16;
const algorithm = "aes-256-gcm";

export const encryptionWith = ({ key: text }: EncryptionKey): Encryption => {
  const bytes = Buffer.from(text, "base64url");
  if (bytes.length !== 32) throw new Error("the encryption key is not 256 bits long");
  // five times as fast as bytes, which Node makes a key of each time
  const key = createSecretKey(bytes);
  return {
    encrypt(context, plaintext) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(context));
      const ciphertext = [cipher.update(plaintext), cipher.final()];
      return Buffer.concat([Buffer.of(format), nonce, ...ciphertext, cipher.getAuthTag()]);
    },
    decrypt(context, encrypted) {
      if (encrypted.length < 1 + nonceBytes + tagBytes || encrypted[0] !== format)
        throw new Error("the encrypted value has an unknown format");
      const nonce = encrypted.subarray(1, 1 + nonceBytes);
      const decipher = createDecipheriv(algorithm, key, nonce).setAAD(Buffer.from(context));
      decipher.setAuthTag(encrypted.subarray(-tagBytes));
      try {
        const ciphertext = encrypted.subarray(1 + nonceBytes, -tagBytes);
        return Buffer.concat([decipher.update(ciphertext), decipher.final()]);
      } catch {
        throw new Error("the value cannot be decrypted");
      }
    },
  };
};
