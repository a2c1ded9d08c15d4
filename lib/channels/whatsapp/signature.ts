import { verifySignature as verify } from "whatsapp-rust-bridge";

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
