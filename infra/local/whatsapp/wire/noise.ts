import { createHash, hkdfSync } from "node:crypto";
import { aesDecryptGCM, aesEncryptGCM, Curve, proto } from "baileys";
import type { Authority } from "./authority.ts";
import { prologue } from "./frames.ts";

const protocol = Buffer.from("Noise_XX_25519_AESGCM_SHA256\0\0\0\0");
const none = Buffer.alloc(0);

const nonce = (counter: number) => {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt32BE(counter, 8);
  return bytes;
};

const derive = (secret: Uint8Array, salt: Buffer): [Buffer, Buffer] => {
  const bytes = Buffer.from(hkdfSync("sha256", secret, salt, none, 64));
  return [bytes.subarray(0, 32), bytes.subarray(32)];
};

/** Encrypts and decrypts the frames after the handshake. */
export class Transport {
  readonly #sendKey: Buffer;
  readonly #receiveKey: Buffer;
  #sent = 0;
  #received = 0;

  constructor(sendKey: Buffer, receiveKey: Buffer) {
    this.#sendKey = sendKey;
    this.#receiveKey = receiveKey;
  }

  seal(plain: Uint8Array): Buffer {
    return aesEncryptGCM(plain, this.#sendKey, nonce(this.#sent++), none);
  }

  open(frame: Uint8Array): Buffer {
    return aesDecryptGCM(frame, this.#receiveKey, nonce(this.#received++), none);
  }
}

/**
 * The responder's side of a Noise XX handshake: ← hello, → hello with our certificate, ← finish.
 * @see https://noiseprotocol.org/noise.html#handshake-patterns
 */
export class Handshake {
  readonly #authority: Authority;
  readonly #ephemeral = Curve.generateKeyPair();
  #hash: Buffer = protocol;
  #salt: Buffer = protocol;
  #key: Buffer = protocol;
  #counter = 0;

  constructor(authority: Authority) {
    this.#authority = authority;
  }

  #mixHash(data: Uint8Array) {
    this.#hash = createHash("sha256").update(this.#hash).update(data).digest();
  }

  #mixKey(own: Uint8Array, theirs: Uint8Array) {
    [this.#salt, this.#key] = derive(Curve.sharedKey(own, theirs), this.#salt);
    this.#counter = 0;
  }

  #seal(plain: Uint8Array) {
    const sealed = aesEncryptGCM(plain, this.#key, nonce(this.#counter++), this.#hash);
    this.#mixHash(sealed);
    return sealed;
  }

  #open(sealed: Uint8Array) {
    const plain = aesDecryptGCM(sealed, this.#key, nonce(this.#counter++), this.#hash);
    this.#mixHash(sealed);
    return plain;
  }

  /** Returns the reply to the client's hello. */
  answerHello(frame: Uint8Array): Uint8Array {
    const theirs = proto.HandshakeMessage.decode(frame).clientHello?.ephemeral;
    if (!theirs) throw new Error("the handshake has no client hello");
    const { staticKey, chain } = this.#authority;
    for (const part of [prologue, theirs, this.#ephemeral.public]) this.#mixHash(part);
    this.#mixKey(this.#ephemeral.private, theirs);
    const sealedStatic = this.#seal(staticKey.public);
    this.#mixKey(staticKey.private, theirs);
    const serverHello = {
      ephemeral: this.#ephemeral.public,
      static: sealedStatic,
      payload: this.#seal(chain),
    };
    return proto.HandshakeMessage.encode({ serverHello }).finish();
  }

  /** Returns the client's verified key, its login, and the encryption of the following frames. */
  finish(frame: Uint8Array): { clientKey: Buffer; payload: proto.ClientPayload; transport: Transport } {
    const finish = proto.HandshakeMessage.decode(frame).clientFinish;
    if (!finish?.static || !finish.payload) throw new Error("the handshake has no client finish");
    const clientKey = this.#open(finish.static);
    this.#mixKey(this.#ephemeral.private, clientKey);
    const payload = proto.ClientPayload.decode(this.#open(finish.payload));
    const [theirs, ours] = derive(none, this.#salt);
    return { clientKey, payload, transport: new Transport(ours, theirs) };
  }
}
