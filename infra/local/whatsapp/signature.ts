import { createPublicKey, verify } from "node:crypto";

const p = 2n ** 255n - 19n;
const modulo = (value: bigint) => ((value % p) + p) % p;

const power = (base: bigint, exponent: bigint): bigint => {
  let result = 1n;
  for (let square = modulo(base), rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = modulo(result * square);
    square = modulo(square * square);
  }
  return result;
};

const fromLittleEndian = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`);
const toLittleEndian = (value: bigint) => Buffer.from(value.toString(16).padStart(64, "0"), "hex").reverse();

const der = Buffer.from("302a300506032b6570032100", "hex");

/**
 * Tells whether a Curve25519 key made this signature (XEdDSA): the key is mapped to its Edwards form, whose
 * sign stands in the signature's last bit, and that signature is Ed25519. The client library's own check
 * accepts forged ones, so nothing here may rest on it.
 * @see https://signal.org/docs/specifications/xeddsa/
 */
export const isSigned = (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean => {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  const u = fromLittleEndian(publicKey);
  const edwards = toLittleEndian(modulo((u - 1n) * power(u + 1n, p - 2n)));
  const plain = Buffer.from(signature);
  const last = plain.readUInt8(63);
  edwards[31] = (edwards[31] ?? 0) | (last & 0x80);
  plain[63] = last & 0x7f;
  const key = createPublicKey({ key: Buffer.concat([der, edwards]), format: "der", type: "spki" });
  return verify(null, message, key, plain);
};
