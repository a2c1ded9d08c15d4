import { createPublicKey, verify } from "node:crypto";

const prime = 2n ** 255n - 19n;
const spkiOfEd25519 = Buffer.from("302a300506032b6570032100", "hex");

const power = (base: bigint, exponent: bigint): bigint => {
  let result = 1n;
  for (let b = base % prime, e = exponent; e > 0n; e >>= 1n, b = (b * b) % prime)
    if (e & 1n) result = (result * b) % prime;
  return result;
};

const toBigint = (littleEndian: Uint8Array) =>
  BigInt(`0x${Buffer.from(littleEndian).reverse().toString("hex")}`);
const toBytes = (number: bigint) => Buffer.from(number.toString(16).padStart(64, "0"), "hex").reverse();

/**
 * Verifies an XEdDSA signature, the kind that Signal makes with Curve25519 keys
 * (https://signal.org/docs/specifications/xeddsa): the key is mapped to its Edwards form, whose sign bit
 * travels in the signature, and the rest is Ed25519.
 *
 * baileys' own `Curve.verify` says true to everything that does not throw: it drops the answer.
 *
 * @param publicKey 32 bytes, or 33 with the leading 5 of Signal's encoding.
 */
export const verifySignature = (
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): boolean => {
  const key = publicKey.length === 33 && publicKey[0] === 5 ? publicKey.subarray(1) : publicKey;
  if (key.length !== 32 || signature.length !== 64) return false;
  const u = toBigint(key) & (2n ** 255n - 1n);
  if (u >= prime) return false;
  // y = (u - 1) / (u + 1); the inverse is a power, after Fermat
  const y = toBytes(((u - 1n + prime) * power(u + 1n, prime - 2n)) % prime);
  const last = signature[63] ?? 0;
  y[31] = (y[31] ?? 0) | (last & 0x80);
  const edwards = Buffer.from(signature);
  edwards[63] = last & 0x7f;
  try {
    const spki = createPublicKey({ key: Buffer.concat([spkiOfEd25519, y]), format: "der", type: "spki" });
    return verify(null, message, spki, edwards);
  } catch {
    return false; // no point of the curve
  }
};
