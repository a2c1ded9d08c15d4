import { hkdfSync, pbkdf2, randomBytes } from "node:crypto";
import { promisify } from "node:util";
import {
  aesDecryptCTR,
  aesDecryptGCM,
  aesEncryptCTR,
  type BinaryNode,
  Curve,
  getBinaryNodeChild,
  type KeyPair,
} from "baileys";
import { bytesOf, element } from "./wire/stanza.ts";

const iterations = 131_072;
const stretch = (code: string, salt: Buffer): Promise<Buffer> =>
  promisify(pbkdf2)(code, salt, iterations, 32, "sha256");

/** Decrypts an ephemeral key that was encrypted with the code: salt, initialization vector, key. */
const unwrap = async (code: string, wrapped: Buffer) => {
  const key = await stretch(code, wrapped.subarray(0, 32));
  return aesDecryptCTR(wrapped.subarray(48), key, wrapped.subarray(32, 48));
};

const wrap = async (code: string, publicKey: Uint8Array) => {
  const salt = randomBytes(32);
  const vector = randomBytes(16);
  return Buffer.concat([salt, vector, aesEncryptCTR(publicKey, await stretch(code, salt), vector)]);
};

interface Greeting {
  readonly ephemeral: KeyPair;
  readonly companion: Buffer;
  resolve(secret: Buffer): void;
  reject(fault: Error): void;
}

/**
 * The phone's side of pairing by an eight-letter code: both sides encrypt an ephemeral key with the code, and derive
 * from the shared key the secret that a QR code would contain.
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

  /** Starts pairing with the entered code. @returns the stanza for the client, and the secret after its reply. */
  async greet(typed: string): Promise<{ greeting: BinaryNode; finished: Promise<Buffer> }> {
    const code = typed.replaceAll("-", "").toUpperCase();
    const ephemeral = Curve.generateKeyPair();
    const companion = await unwrap(code, this.#wrapped);
    const wrapped = await wrap(code, ephemeral.public);
    const finished = new Promise<Buffer>((resolve, reject) => {
      this.#greeting = { ephemeral, companion, resolve, reject };
    });
    // the client may reply before the caller awaits this
    finished.catch(() => {});
    const greeting = element("link_code_companion_reg", { stage: "primary_hello" }, [
      element("link_code_pairing_wrapped_primary_ephemeral_pub", {}, wrapped),
      element("primary_identity_pub", {}, this.#identity.public),
      element("link_code_pairing_ref", {}, this.ref),
    ]);
    return { greeting, finished };
  }

  /** Handles the client's reply. @returns false if the entered code was wrong. */
  finish(finish: BinaryNode, identityKey: Buffer): boolean {
    if (!this.#greeting) throw new Error("no code was entered");
    const { resolve, reject } = this.#greeting;
    try {
      resolve(this.#open(this.#greeting, finish, identityKey));
      return true;
    } catch (cause) {
      reject(new Error("the entered code is not the one that was shown", { cause }));
      return false;
    }
  }

  #open({ ephemeral, companion }: Greeting, finish: BinaryNode, identityKey: Buffer): Buffer {
    if (!bytesOf(getBinaryNodeChild(finish, "link_code_pairing_ref")).equals(this.ref))
      throw new Error("another ref");
    const bundle = bytesOf(getBinaryNodeChild(finish, "link_code_pairing_wrapped_key_bundle"));
    const shared = Curve.sharedKey(ephemeral.private, companion);
    const info = "link_code_pairing_key_bundle_encryption_key";
    const key = Buffer.from(hkdfSync("sha256", shared, bundle.subarray(0, 32), info, 32));
    const plain = aesDecryptGCM(bundle.subarray(44), key, bundle.subarray(32, 44), Buffer.alloc(0));
    const [companionIdentity, ownIdentity, random] = [0, 32, 64].map((at) => plain.subarray(at, at + 32));
    if (!companionIdentity?.equals(identityKey)) throw new Error("another client's identity");
    if (!ownIdentity?.equals(this.#identity.public)) throw new Error("another phone's identity");
    const identityShared = Curve.sharedKey(this.#identity.private, identityKey);
    const secret = Buffer.concat([shared, identityShared, random ?? Buffer.alloc(0)]);
    return Buffer.from(hkdfSync("sha256", secret, Buffer.alloc(0), "adv_secret", 32));
  }
}
