import * as baileys from "baileys";
import type { Inbound } from "../../channel.ts";

type Message = baileys.proto.IMessage;

/** What persons send, by the name of its field. Others are reactions, votes, calls, settings and the like. */
const sent: ReadonlySet<string> = new Set([
  ...["conversation", "extendedTextMessage", "buttonsResponseMessage", "templateButtonReplyMessage"],
  ...["listResponseMessage", "interactiveResponseMessage", "imageMessage", "videoMessage", "ptvMessage"],
  ...["audioMessage", "documentMessage", "stickerMessage", "lottieStickerMessage", "locationMessage"],
  ...["liveLocationMessage", "contactMessage", "contactsArrayMessage"],
]);

/** Returns what was typed, or the label of the button or the row that was chosen. Not a caption: it belongs to a picture. */
const textOf = (content: Message): string | undefined =>
  content.conversation ||
  content.extendedTextMessage?.text ||
  content.buttonsResponseMessage?.selectedDisplayText ||
  content.templateButtonReplyMessage?.selectedDisplayText ||
  content.listResponseMessage?.title ||
  content.interactiveResponseMessage?.body?.text ||
  undefined;

/**
 * Returns what a person has sent; undefined for anything else. Disappearing messages are wrapped; an edit is a protocol
 * message with the new content, which may be wrapped too (baileys, processMessage: `MESSAGE_EDIT`).
 */
const readContent = (message: Message): Pick<Inbound, "text" | "isEdit"> | undefined => {
  const outer = baileys.normalizeMessageContent(message);
  const edited = outer?.protocolMessage?.editedMessage;
  const content = edited ? baileys.normalizeMessageContent(edited) : outer;
  if (!content || !sent.has(baileys.getContentType(content) ?? "")) return undefined;
  return { text: textOf(content), isEdit: edited != null || message.editedMessage != null };
};

const userOf = (jid: string | undefined): string | undefined => {
  const user = baileys.jidDecode(jid)?.user;
  return user && /^[1-9]\d{7,14}$/.test(user) ? user : undefined;
};

export interface InboundOptions {
  readonly me: () => baileys.Contact | undefined;
  /** Finds the number of a LID among those that are known. */
  readonly findNumber: (lid: string) => Promise<string | null>;
  readonly openedAt: () => number;
  readonly onInbound: (inbound: Inbound) => Promise<void>;
  /** Ends the connection, before the library acknowledges what was not read. */
  readonly abandon: () => void;
}

/**
 * Reads the messages that persons send to the account, not those of groups, broadcasts, channels, or the account itself.
 *
 * Not by baileys' event `messages.upsert`: it is emitted after the platform was told that the message has arrived
 * (messages-recv.js, handleMessage: `sendReceipt` before `upsertMessage`), and held back for up to 30 s
 * (event-buffer.js), so a crash would lose it. A message is read before both, while it is decrypted: until
 * `onInbound` has resolved, the platform delivers it again at the next login.
 */
export class InboundReader {
  readonly #options: InboundOptions;
  /** By its ciphertext, the same object that is decrypted. */
  readonly #envelopes = new WeakMap<Uint8Array, baileys.BinaryNode>();

  constructor(options: InboundOptions) {
    this.#options = options;
  }

  /** Remembers the envelope of a message until it is decrypted. */
  note(node: baileys.BinaryNode): void {
    const { from, recipient, category } = node.attrs;
    const me = this.#options.me();
    const isPerson = baileys.isPnUser(from) || baileys.isLidUser(from);
    const isOwn = [me?.id, me?.lid].some((own) => own && baileys.areJidsSameUser(from, own));
    // the account's own devices name a recipient, or are peers
    if (!isPerson || isOwn || recipient || category === "peer") return;
    for (const { content } of baileys.getBinaryNodeChildren(node, "enc"))
      if (content instanceof Uint8Array) this.#envelopes.set(content, node);
  }

  abandon(): void {
    this.#options.abandon();
  }

  /** Whether a ciphertext is that of a message that is read. */
  reads(ciphertext: Uint8Array): boolean {
    return this.#envelopes.has(ciphertext);
  }

  async read(ciphertext: Uint8Array, plaintext: Uint8Array): Promise<void> {
    const { attrs } = this.#envelopes.get(ciphertext) ?? {};
    if (!attrs) return;
    const { findNumber, openedAt, onInbound } = this.#options;
    const content = readContent(baileys.proto.Message.decode(baileys.unpadRandomMax16(plaintext)));
    if (!content) return;
    const { from = "", sender_pn: named, t, offline } = attrs;
    // decode-wa-message.js, extractAddressingContext: a LID comes with the number in `sender_pn`, unless it is hidden
    const number = baileys.isLidUser(from) ? (named ?? (await findNumber(from)) ?? undefined) : from;
    const sentAt = new Date(Number(t) * 1_000);
    // "0" is a live message (Baileys #2810)
    const isLate = Number(offline ?? 0) > 0 || !(sentAt.getTime() + 1_000 > openedAt());
    await onInbound({ ...content, phone: userOf(number), sentAt, isLate });
  }
}
