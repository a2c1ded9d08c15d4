import { generateKeyPairSync, randomBytes, sign } from "node:crypto";

/** Encodes a DER value of up to 65,535 bytes. */
const der = (tag: number, ...contents: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(contents);
  const size = content.length;
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
};

const sequence = (...contents: readonly Uint8Array[]) => der(0x30, ...contents);
const hex = (digits: string) => Buffer.from(digits, "hex");
const time = (ms: number) =>
  der(0x18, Buffer.from(`${new Date(ms).toISOString().slice(0, 19).replaceAll(/[-:T]/g, "")}Z`));

const ecdsaWithSha256 = sequence(hex("06082a8648ce3d040302"));
const commonName = hex("0603550403");
const mayIssueCertificates = sequence(hex("0603551d13"), hex("0101ff"), der(0x04, hex("30030101ff")));
const loopback = [
  der(0x82, Buffer.from("localhost")),
  der(0x87, Buffer.from([127, 0, 0, 1])),
  der(0x87, hex("00000000000000000000000000000001")),
];
const subjectAltName = sequence(hex("0603551d11"), der(0x04, sequence(...loopback)));
const dayMs = 24 * 60 * 60 * 1_000;
const validDays = 30;

/**
 * Creates a key and a self-signed certificate for loopback, which is also the CA to trust. Node cannot create
 * certificates, and openssl may not be installed.
 * @see https://www.rfc-editor.org/rfc/rfc5280#section-4.1
 */
export const createCertificate = (): { readonly key: string; readonly cert: string } => {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = sequence(der(0x31, sequence(commonName, der(0x0c, Buffer.from("simulated platform")))));
  const now = Date.now();
  const body = sequence(
    der(0xa0, hex("020102")), // version 3
    der(0x02, Buffer.from([1]), randomBytes(15)), // serial number: positive, without leading zeros
    ecdsaWithSha256,
    name,
    sequence(time(now - dayMs), time(now + validDays * dayMs)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(mayIssueCertificates, subjectAltName)),
  );
  const signature = der(0x03, Buffer.from([0]), sign("sha256", body, privateKey));
  const base64 = sequence(body, ecdsaWithSha256, signature).toString("base64");
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${base64.replaceAll(/.{64}(?!$)/g, "$&\n")}\n-----END CERTIFICATE-----\n`,
  };
};
