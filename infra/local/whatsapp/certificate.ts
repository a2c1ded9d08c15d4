import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { bits, boolean, der, integer, octets, oid, sequence, set, tagged, text, time } from "./der.ts";

const ecdsaWithSha256 = sequence(oid("1.2.840.10045.4.3.2"));
const loopback = [Buffer.from([127, 0, 0, 1]), Buffer.from([...Array(15).fill(0), 1])];
const dayMs = 24 * 60 * 60 * 1_000;
const validDays = 30;

const pem = (label: string, bytes: Buffer) =>
  `-----BEGIN ${label}-----\n${bytes.toString("base64").replaceAll(/.{64}(?!$)/g, "$&\n")}\n-----END ${label}-----\n`;

const extension = (id: string, critical: boolean, value: Uint8Array) =>
  sequence(oid(id), ...(critical ? [boolean(true)] : []), octets(value));

/**
 * A key and a certificate for loopback that has signed itself, so that it is at once the authority to trust.
 * Node can read certificates but not make them, and a machine that has only Node has no openssl.
 * @see https://www.rfc-editor.org/rfc/rfc5280#section-4.1
 */
export const createCertificate = (): { readonly key: string; readonly cert: string } => {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const spki = publicKey.export({ type: "spki", format: "der" });
  const name = sequence(set(sequence(oid("2.5.4.3"), text("fake platform on loopback"))));
  const now = Date.now();
  const addresses = loopback.map((address) => der(0x87, address));
  const body = sequence(
    tagged(0, integer(Buffer.from([2]))), // version 3
    integer(randomBytes(15)),
    ecdsaWithSha256,
    name,
    sequence(time(new Date(now - dayMs)), time(new Date(now + validDays * dayMs))),
    name,
    spki,
    tagged(
      3,
      sequence(
        extension("2.5.29.19", true, sequence(boolean(true))), // may issue certificates
        extension("2.5.29.17", false, sequence(der(0x82, Buffer.from("localhost")), ...addresses)),
        extension("2.5.29.14", false, octets(createHash("sha1").update(spki).digest())),
      ),
    ),
  );
  const signature = sign("sha256", body, privateKey);
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: pem("CERTIFICATE", sequence(body, ecdsaWithSha256, bits(signature))),
  };
};
