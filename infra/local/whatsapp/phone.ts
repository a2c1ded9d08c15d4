import { createHash, randomBytes, randomInt } from "node:crypto";
import {
  type BinaryNode,
  Curve,
  DEFAULT_CONNECTION_CONFIG,
  getContentType,
  initAuthCreds,
  type KeyPair,
  normalizeMessageContent,
  proto,
} from "baileys";
import type { Device } from "./account.ts";
import { createKeyStore, silent } from "./key-store.ts";
import { decryptMedia, findMedia, type MediaReference } from "./media-file.ts";
import type { MediaStore } from "./media-store.ts";
import { bigEndian, element, secondsNow } from "./stanza.ts";

/** A message that a phone could read. */
export interface Received {
  readonly id: string;
  /** Who sent it: the jid of a linked device. */
  readonly from: string;
  /** The kind of content inside all wrappers, such as `imageMessage`. */
  readonly type: string;
  /** Its text or caption. */
  readonly text: string;
  readonly message: proto.Message;
  /** `pkmsg` opens a Signal session, `msg` goes on with it. */
  readonly encryption: string;
  /** 1 for the first message that any phone received. */
  readonly order: number;
  readonly at: Date;
  /** How often this id came and could be read. */
  arrivals: number;
  /** Every copy was the same, byte for byte. */
  identical: boolean;
  readonly media: (MediaReference & { readonly bytes: Buffer }) | undefined;
}

/** A message, or its media, that a phone could not read. */
export interface Failure {
  readonly id: string;
  readonly reason: string;
  readonly at: Date;
}

/** An encrypted message as it reaches a phone. */
export interface Incoming {
  readonly id: string;
  readonly from: string;
  readonly type: string;
  readonly ciphertext: Uint8Array;
  readonly order: number;
}

/** Messages are padded with 1 to 16 bytes that all say how many they are. */
const unpad = (padded: Uint8Array) => {
  const count = padded.at(-1) ?? 0;
  if (count < 1 || count > 16 || count > padded.length) throw new Error("the padding is wrong");
  return padded.subarray(0, padded.length - count);
};

const pad = (plain: Uint8Array) => {
  const count = 1 + randomInt(16);
  return Buffer.concat([plain, Buffer.alloc(count, count)]);
};

const textOf = (message: proto.IMessage) => {
  const content = normalizeMessageContent(message);
  const media = content?.imageMessage ?? content?.videoMessage ?? content?.documentMessage;
  return content?.conversation || content?.extendedTextMessage?.text || media?.caption || "";
};

/** Someone's phone, with Signal keys of its own. */
export class Phone {
  readonly number: string;
  /** The user's other name, which tells nothing of the number. */
  readonly lid: string;
  readonly inbox: Received[] = [];
  readonly failures: Failure[] = [];
  readonly #credentials = initAuthCreds();
  readonly #keys = createKeyStore();
  readonly #signal = DEFAULT_CONNECTION_CONFIG.makeSignalRepository(
    { creds: this.#credentials, keys: this.#keys },
    silent,
    async () => [],
  );
  readonly #media: MediaStore;
  readonly #plain = new Map<string, Buffer>();
  readonly #retries = new Map<string, number>();
  #lastPreKey = 0;

  constructor(number: string, media: MediaStore) {
    this.number = number;
    const digest = createHash("sha256").update(number).digest();
    this.lid = `1${(digest.readUIntBE(0, 6) % 1e14).toString().padStart(14, "0")}`;
    this.#media = media;
  }

  get jid(): string {
    return `${this.number}@s.whatsapp.net`;
  }

  /** The key that proves who this is; an account's own phone vouches for linked devices with it. */
  get identity(): KeyPair {
    return this.#credentials.signedIdentityKey;
  }

  /** Keys to open a session with; each call spends a one-time key. */
  async bundle(): Promise<{ registration: BinaryNode; keys: BinaryNode[] }> {
    const { registrationId, signedPreKey, signedIdentityKey } = this.#credentials;
    const preKey = Curve.generateKeyPair();
    const preKeyId = ++this.#lastPreKey;
    await this.#keys.set({ "pre-key": { [preKeyId]: preKey } });
    const key = (tag: string, id: number, value: Uint8Array, signature?: Uint8Array) =>
      element(tag, {}, [
        element("id", {}, bigEndian(id, 3)),
        element("value", {}, value),
        ...(signature ? [element("signature", {}, signature)] : []),
      ]);
    return {
      registration: element("registration", {}, bigEndian(registrationId, 4)),
      keys: [
        element("type", {}, Buffer.from([5])),
        element("identity", {}, signedIdentityKey.public),
        key("key", preKeyId, preKey.public),
        key("skey", signedPreKey.keyId, signedPreKey.keyPair.public, signedPreKey.signature),
      ],
    };
  }

  /** Reads a message into the inbox. @returns whether it could; if not, the failure is kept. */
  async receive({ id, from, type, ciphertext, order }: Incoming): Promise<boolean> {
    const at = new Date();
    try {
      if (type !== "pkmsg" && type !== "msg") throw new Error(`unknown encryption ${type}`);
      const plain = Buffer.from(unpad(await this.#signal.decryptMessage({ jid: from, type, ciphertext })));
      const message = proto.Message.decode(plain);
      const earlier = this.find(id);
      if (earlier) {
        earlier.arrivals += 1;
        earlier.identical &&= plain.equals(this.#plain.get(id) ?? Buffer.alloc(0));
        return true;
      }
      this.#plain.set(id, plain);
      const content = getContentType(normalizeMessageContent(message)) ?? "unknown";
      const known = { id, from, type: content, text: textOf(message), message, encryption: type, order, at };
      this.inbox.push({ ...known, arrivals: 1, identical: true, media: this.#open(id, message) });
      return true;
    } catch (cause) {
      this.#fail(id, cause);
      return false;
    }
  }

  #fail(id: string, cause: unknown) {
    this.failures.push({
      id,
      reason: cause instanceof Error ? cause.message : String(cause),
      at: new Date(),
    });
  }

  #open(id: string, message: proto.Message) {
    const reference = findMedia(message);
    if (!reference) return undefined;
    const open = () => decryptMedia(reference, this.#media.get(reference.directPath));
    try {
      open();
    } catch (cause) {
      // the message itself was read: a phone shows it with a file that cannot be loaded
      this.#fail(id, cause);
    }
    return {
      ...reference,
      /** Decrypted anew each time, so that the inbox does not hold every file twice. */
      get bytes() {
        return open();
      },
    };
  }

  find(id: string): Received | undefined {
    return this.inbox.find((received) => received.id === id);
  }

  /** Writes to a linked device, in the session there is or a new one. @returns the message to send. */
  async write(text: string, { lid: jid, keys }: Device): Promise<BinaryNode> {
    const { exists } = await this.#signal.validateSession(jid);
    if (!exists) await this.#signal.injectE2ESession({ jid, session: keys.take() });
    const data = pad(proto.Message.encode({ conversation: text }).finish());
    const { type, ciphertext } = await this.#signal.encryptMessage({ jid, data });
    const id = `3A${randomBytes(9).toString("hex").toUpperCase()}`;
    const attrs = { id, from: this.jid, type: "text", t: secondsNow(), notify: this.number };
    return element("message", attrs, [element("enc", { v: "2", type }, ciphertext)]);
  }

  /** A receipt that asks for a message again; from the second time on with keys for a new session. */
  async retryReceipt(id: string, from: string): Promise<BinaryNode> {
    const count = (this.#retries.get(id) ?? 0) + 1;
    this.#retries.set(id, count);
    const { registration, keys } = await this.bundle();
    const t = secondsNow();
    return element("receipt", { id, from, type: "retry", t }, [
      element("retry", { count: String(count), id, t, v: "1" }),
      registration,
      ...(count > 1 ? [element("keys", {}, keys)] : []),
    ]);
  }

  /** How often a message was asked for again. */
  retriesOf(id: string): number {
    return this.#retries.get(id) ?? 0;
  }

  close(): void {
    this.#signal.close?.();
  }
}
