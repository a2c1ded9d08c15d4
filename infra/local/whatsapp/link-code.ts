import { createCipheriv, createDecipheriv, hkdfSync, pbkdf2, randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { type BinaryNode, Curve, type KeyPair } from "baileys";
import { bytesOf, element, findChild } from "./stanza.ts";

const iterations = 131_072;
const stretch = (code: string, salt: Buffer): Promise<Buffer> =>
  promisify(pbkdf2)(code, salt, iterations, 32, "sha256");

/** Salt, initial vector and key, as either side wraps its ephemeral key in the code. */
const unwrap = async (code: string, wrapped: Buffer) => {
  const key = await stretch(code, wrapped.subarray(0, 32));
  const decipher = createDecipheriv("aes-256-ctr", key, wrapped.subarray(32, 48));
  return Buffer.concat([decipher.update(wrapped.subarray(48)), decipher.final()]);
};

const wrap = async (code: string, publicKey: Uint8Array) => {
  const salt = randomBytes(32);
  const vector = randomBytes(16);
  const cipher = createCipheriv("aes-256-ctr", await stretch(code, salt), vector);
  return Buffer.concat([salt, vector, cipher.update(publicKey), cipher.final()]);
};

interface Greeting {
  readonly ephemeral: KeyPair;
  readonly companion: Buffer;
  resolve(secret: Buffer): void;
  reject(fault: Error): void;
}

/**
 * The phone's side of pairing by a code of eight letters: both sides wrap an ephemeral key in the code, and
 * from what they then share comes the secret that a QR code would have carried.
 */
export class LinkCode {
  readonly ref = randomBytes(16);
  readonly #wrapped: Buffer;
  readonly #identity: KeyPair;
  #greeting: Greeting | undefined;

  constructor(wrapped: Buffer, identity: KeyPair) {
    this.#wrapped = wrapped;
    this.#identity = identity;
  }

  /** The code was typed. @returns what to tell the client, and the secret once it has answered. */
  async greet(typed: string): Promise<{ greeting: BinaryNode; finished: Promise<Buffer> }> {
    const code = typed.replaceAll("-", "").toUpperCase();
    const ephemeral = Curve.generateKeyPair();
    const companion = await unwrap(code, this.#wrapped);
    const wrapped = await wrap(code, ephemeral.public);
    const finished = new Promise<Buffer>((resolve, reject) => {
      this.#greeting = { ephemeral, companion, resolve, reject };
    });
    // whoever typed the code awaits it later than the client may answer
    finished.catch(() => {});
    const greeting = element("link_code_companion_reg", { stage: "primary_hello" }, [
      element("link_code_pairing_wrapped_primary_ephemeral_pub", {}, wrapped),
      element("primary_identity_pub", {}, this.#identity.public),
      element("link_code_pairing_ref", {}, this.ref),
    ]);
    return { greeting, finished };
  }

  /** The client answered. @returns false when it could not open what the typed code wrapped. */
  finish(finish: BinaryNode, identityKey: Buffer): boolean {
    if (!this.#greeting) throw new Error("no code was typed");
    const { resolve, reject } = this.#greeting;
    try {
      resolve(this.#open(this.#greeting, finish, identityKey));
      return true;
    } catch (cause) {
      reject(new Error("the code that was typed is not the one that was shown", { cause }));
      return false;
    }
  }

  #open({ ephemeral, companion }: Greeting, finish: BinaryNode, identityKey: Buffer): Buffer {
    if (!bytesOf(findChild(finish, "link_code_pairing_ref")).equals(this.ref)) throw new Error("another ref");
    const bundle = bytesOf(findChild(finish, "link_code_pairing_wrapped_key_bundle"));
    const shared = Curve.sharedKey(ephemeral.private, companion);
    const info = "link_code_pairing_key_bundle_encryption_key";
    const key = Buffer.from(hkdfSync("sha256", shared, bundle.subarray(0, 32), info, 32));
    const decipher = createDecipheriv("aes-256-gcm", key, bundle.subarray(32, 44));
    decipher.setAuthTag(bundle.subarray(-16));
    const plain = Buffer.concat([decipher.update(bundle.subarray(44, -16)), decipher.final()]);
    const [companionIdentity, ownIdentity, random] = [0, 32, 64].map((at) => plain.subarray(at, at + 32));
    if (!companionIdentity?.equals(identityKey)) throw new Error("another client's identity");
    if (!ownIdentity?.equals(this.#identity.public)) throw new Error("another phone's identity");
    const identityShared = Curve.sharedKey(this.#identity.private, identityKey);
    const secret = Buffer.concat([shared, identityShared, random ?? Buffer.alloc(0)]);
    return Buffer.from(hkdfSync("sha256", secret, Buffer.alloc(0), "adv_secret", 32));
  }
}
