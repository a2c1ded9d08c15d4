import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type * as z from "zod/mini";
import type { messengerKeySchema } from "#lib/secrets/schemas.ts";

export type SealingKey = z.infer<ReturnType<typeof messengerKeySchema>>;

/** Encrypts values at rest. A sealed value opens only at the place that it was sealed for. */
export interface Sealing {
  /** @param place says where the value lies, such as `auth_key/<type>/<id>`; it is not stored. */
  seal(place: string, clear: Uint8Array): Buffer;
  /** @throws Error for another key, another place or a changed value, without saying which. */
  open(place: string, sealed: Uint8Array): Buffer;
}

/*
 * A sealed value: format (1 byte) | nonce (12 bytes) | ciphertext | tag (16 bytes).
 * Nonces are random: with one key, 2^32 values may be sealed before a repetition is to be feared
 * (NIST SP 800-38D, 8.3), that is 136 years of one value a second.
 */
const format = 1;
const nonceBytes = 12;
const tagBytes = 16;
const algorithm = "aes-256-gcm";

export const sealingWith = ({ key: text }: SealingKey): Sealing => {
  const key = Buffer.from(text, "base64url");
  if (key.length !== 32) throw new Error("the sealing key has not 256 bits");
  return {
    seal(place, clear) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(place));
      const ciphertext = [cipher.update(clear), cipher.final()];
      return Buffer.concat([Buffer.of(format), nonce, ...ciphertext, cipher.getAuthTag()]);
    },
    open(place, sealed) {
      if (sealed.length < 1 + nonceBytes + tagBytes || sealed[0] !== format)
        throw new Error("the sealed value has an unknown format");
      const nonce = sealed.subarray(1, 1 + nonceBytes);
      const decipher = createDecipheriv(algorithm, key, nonce).setAAD(Buffer.from(place));
      decipher.setAuthTag(sealed.subarray(-tagBytes));
      try {
        return Buffer.concat([decipher.update(sealed.subarray(1 + nonceBytes, -tagBytes)), decipher.final()]);
      } catch {
        throw new Error("the sealed value cannot be opened");
      }
    },
  };
};
