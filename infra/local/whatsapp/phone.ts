import { createHash, randomBytes } from "node:crypto";
import {
  type BinaryNode,
  Curve,
  DEFAULT_CONNECTION_CONFIG,
  encodeBigEndian,
  getContentType,
  initAuthCreds,
  type KeyPair,
  normalizeMessageContent,
  parseAndInjectE2ESessions,
  proto,
  unpadRandomMax16,
  writeRandomPadMax16,
  xmppPreKey,
  xmppSignedPreKey,
} from "baileys";
import { createKeyStore, silent } from "./keys.ts";
import { decryptMedia, findMedia, type MediaReference } from "./media/media-file.ts";
import type { MediaStore } from "./media/media-store.ts";
import type { Device } from "./phone-account.ts";
import { element, secondsNow } from "./wire/stanza.ts";

/** A message that a phone has decrypted. */
export interface Received {
  readonly id: string;
  /** JID of the linked device that sent it. */
  readonly from: string;
  /** Type of the content without wrappers, such as `imageMessage`. */
  readonly type: string;
  /** Text or caption. */
  readonly text: string;
  readonly message: proto.Message;
  /** `pkmsg` starts a Signal session, `msg` continues it. */
  readonly encryption: string;
  /** 1 for the first message that any phone received. */
  readonly order: number;
  readonly at: Date;
  /** How often this ID was received and decrypted. */
  arrivals: number;
  /** Whether all copies were identical. */
  identical: boolean;
  readonly media: (MediaReference & { readonly bytes: Buffer }) | undefined;
}

/** A message or its media that a phone could not decrypt. */
export interface Failure {
  readonly id: string;
  readonly reason: string;
  readonly at: Date;
}

/** How a phone sends a message to the account. */
export interface Envelope {
  /** From which of its addresses; a LID comes with the number, unless that is hidden. */
  readonly from?: "number" | "lid" | "hidden number";
  /** A group, a broadcast list or a channel in which it is sent, instead of the chat with the account. */
  readonly chat?: string;
  readonly sentAt?: Date;
  /** More attributes, such as those with which the server routes copies of an account's own messages. */
  readonly attrs?: Readonly<Record<string, string>>;
  /** The kind of ciphertext that it claims to be, by default its own. */
  readonly encryption?: string;
}

/** An encrypted message. */
export interface Incoming {
  readonly id: string;
  readonly from: string;
  readonly type: string;
  readonly ciphertext: Uint8Array;
  readonly order: number;
}

const textOf = (message: proto.IMessage) => {
  const content = normalizeMessageContent(message);
  const media = content?.imageMessage ?? content?.videoMessage ?? content?.documentMessage;
  return content?.conversation || content?.extendedTextMessage?.text || media?.caption || "";
};

/** Returns a LID that is always the same for these words. */
export const newLid = (words: string): string => {
  const digest = createHash("sha256").update(words).digest();
  return `1${(digest.readUIntBE(0, 6) % 1e14).toString().padStart(14, "0")}`;
};

/** A phone with its Signal keys. */
export class Phone {
  /** How often clients have queried its devices and keys. */
  readonly queries = { devices: 0, keys: 0 };
  readonly number: string;
  /** The user's ID, which does not reveal the number. */
  lid: string;
  /** The device's ID: 0, or that of a companion, such as the web client. */
  readonly id: number;
  readonly companions: Phone[] = [];
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

  constructor(number: string, media: MediaStore, id = 0) {
    this.number = number;
    this.id = id;
    this.lid = newLid(number);
    this.#media = media;
  }

  get jid(): string {
    return `${this.number}@s.whatsapp.net`;
  }

  /** The identity key, with which an account's phone signs linked devices. */
  get identity(): KeyPair {
    return this.#credentials.signedIdentityKey;
  }

  /**
   * Returns the keys for a new session.
   *
   * @param oneTime the one-time key: a new one, one that the phone has used and deleted, or none.
   */
  async bundle(oneTime: "new" | "used" | "none" = "new"): Promise<{
    registration: BinaryNode;
    keys: BinaryNode[];
  }> {
    const { registrationId, signedPreKey, signedIdentityKey } = this.#credentials;
    const preKey = Curve.generateKeyPair();
    const preKeyId = ++this.#lastPreKey;
    if (oneTime === "new") await this.#keys.set({ "pre-key": { [preKeyId]: preKey } });
    return {
      registration: element("registration", {}, encodeBigEndian(registrationId)),
      keys: [
        element("type", {}, Buffer.from([5])),
        element("identity", {}, signedIdentityKey.public),
        ...(oneTime === "none" ? [] : [xmppPreKey(preKey, preKeyId)]),
        xmppSignedPreKey(signedPreKey),
      ],
    };
  }

  /** Deletes the session with a linked device. */
  loseSession(device: string): Promise<void> {
    return this.#signal.deleteSession([device]);
  }

  /** Decrypts a message into the inbox. @returns false after recording a failure. */
  async receive({ id, from, type, ciphertext, order }: Incoming): Promise<boolean> {
    const at = new Date();
    try {
      if (type !== "pkmsg" && type !== "msg") throw new Error(`unknown encryption ${type}`);
      const padded = await this.#signal.decryptMessage({ jid: from, type, ciphertext });
      const padding = padded.at(-1) ?? 0;
      if (padding < 1 || padding > 16) throw new Error("the message is not padded");
      const plain = Buffer.from(unpadRandomMax16(padded));
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
      // like a phone, accept the message without its file
      this.#fail(id, cause);
    }
    return {
      ...reference,
      /** Decrypted on each access, so that the inbox does not store files twice. */
      get bytes() {
        return open();
      },
    };
  }

  find(id: string): Received | undefined {
    return this.inbox.find((received) => received.id === id);
  }

  /** Links a companion, which receives messages too. */
  link(id = this.companions.length + 1): Phone {
    const companion = new Phone(this.number, this.#media, id);
    this.companions.push(companion);
    return companion;
  }

  /** Encrypts a message to a linked device, in the existing session or a new one. */
  async write(
    message: proto.IMessage,
    { lid: jid, keys }: Device,
    envelope: Envelope = {},
  ): Promise<BinaryNode> {
    const { exists } = await this.#signal.validateSession(jid);
    if (!exists) await parseAndInjectE2ESessions(keys.take(jid), this.#signal);
    const data = writeRandomPadMax16(proto.Message.encode(message).finish());
    const { type, ciphertext } = await this.#signal.encryptMessage({ jid, data });
    const id = `3A${randomBytes(9).toString("hex").toUpperCase()}`;
    const attrs = { id, ...this.#address(envelope), type: "text", t: secondsNow(), notify: this.number };
    const { sentAt, attrs: more } = envelope;
    const dated = sentAt && { t: String(Math.floor(sentAt.getTime() / 1_000)) };
    return element("message", { ...attrs, ...dated, ...more }, [
      element("enc", { v: "2", type: envelope.encryption ?? type }, ciphertext),
    ]);
  }

  #address({ from = "number", chat }: Envelope): Record<string, string> {
    const device = this.id === 0 ? "" : `:${this.id}`;
    const own = from === "number" ? `${this.number}${device}@s.whatsapp.net` : `${this.lid}${device}@lid`;
    const named = from === "lid" && { [chat ? "participant_pn" : "sender_pn"]: this.jid };
    return { ...(chat ? { from: chat, participant: own } : { from: own }), ...named };
  }

  /** Creates a receipt that requests a message again; from the second time on with keys for a new session. */
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

  /** How often a message was requested again. */
  retriesOf(id: string): number {
    return this.#retries.get(id) ?? 0;
  }

  close(): void {
    for (const companion of this.companions) companion.close();
    this.#signal.close?.();
  }
}
