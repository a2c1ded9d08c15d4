import { Curve, type KeyPair, proto } from "baileys";

/** The server's credentials in the Noise handshake. */
export interface Authority {
  /** Replaces WhatsApp's root key in the client. */
  readonly rootKey: Buffer<ArrayBuffer>;
  readonly staticKey: KeyPair;
  /** Certificates for root → intermediate → static key. */
  readonly chain: Buffer;
}

const notAfter = 4_000_000_000; // 2096; the client ignores it

/** Creates a certificate authority in place of WhatsApp's. */
export const createAuthority = (): Authority => {
  const root = Curve.generateKeyPair();
  const intermediate = Curve.generateKeyPair();
  const staticKey = Curve.generateKeyPair();
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
