import { Curve, type KeyPair, proto } from "baileys";

/** What the server proves itself with in the Noise handshake. */
export interface Authority {
  /** Takes the place of WhatsApp's root key in the client. */
  readonly rootKey: Buffer<ArrayBuffer>;
  readonly staticKey: KeyPair;
  /** Root → intermediate → static key, as the client wants it. */
  readonly chain: Buffer;
}

const notAfter = 4_000_000_000; // the client does not look at it; 2096

/** A certificate authority of our own: WhatsApp's root key is theirs alone. */
export const createAuthority = (): Authority => {
  const [root, intermediate, staticKey] = [0, 1, 2].map(() => Curve.generateKeyPair()) as [
    KeyPair,
    KeyPair,
    KeyPair,
  ];
  const certify = (subject: Uint8Array, issuer: Uint8Array, serial: number) => {
    const { Details } = proto.CertChain.NoiseCertificate;
    const fields = { serial, issuerSerial: serial - 1, key: subject, notBefore: 0, notAfter };
    const details = Details.encode(fields).finish();
    return { details, signature: Curve.sign(issuer, details) };
  };
  const chain = proto.CertChain.encode({
    intermediate: certify(intermediate.public, root.private, 1),
    leaf: certify(staticKey.public, intermediate.private, 2),
  }).finish();
  return { rootKey: Buffer.from(root.public), staticKey, chain: Buffer.from(chain) };
};
