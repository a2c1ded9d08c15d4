import { createHash, hkdfSync } from "node:crypto";
import { aesDecryptGCM, aesEncryptGCM, Curve, encodeBigEndian, type KeyPair, proto } from "baileys";

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

/** What a client sends before its first frame: "WA", protocol 6, dictionary 3. */
const prologue = Buffer.from([0x57, 0x41, 6, 3]);
const lengthBytes = 3;

export const frame = (data: Uint8Array): Buffer =>
  Buffer.concat([encodeBigEndian(data.length, lengthBytes), data]);

/** Splits a client's bytes into frames: a web socket message may contain part of a frame or several. */
export class FrameReader {
  #rest = Buffer.alloc(0);
  #greeted = false;

  /** Returns the frames that these bytes complete. */
  read(chunk: Buffer): Buffer[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    if (!this.#greeted) {
      if (this.#rest.length < prologue.length) return [];
      if (!this.#rest.subarray(0, prologue.length).equals(prologue)) throw new Error("not a WhatsApp client");
      this.#rest = this.#rest.subarray(prologue.length);
      this.#greeted = true;
    }
    const frames: Buffer[] = [];
    while (this.#rest.length >= lengthBytes) {
      const end = lengthBytes + this.#rest.readUIntBE(0, lengthBytes);
      if (this.#rest.length < end) break;
      frames.push(this.#rest.subarray(lengthBytes, end));
      this.#rest = this.#rest.subarray(end);
    }
    return frames;
  }
}
