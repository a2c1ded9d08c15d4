import { randomBytes } from "node:crypto";
import { generateWAMessageFromContent, proto, type WAMessage, type WASocket } from "baileys";
import { type MediaSource, uploadMedia } from "./upload.ts";

/** A message as it is to appear on the recipient's phone. */
export interface Composition {
  /** The platform's message id, as baileys' `generateMessageIDV2` makes them. */
  readonly id: string;
  /** Digits with country code. */
  readonly phone: string;
  readonly kind: "text" | "image" | "file";
  /** The text, or the caption. */
  readonly text?: string | undefined;
  readonly media?: Media | undefined;
  /** Images only: other kinds have no such form on the platform and go as they are. */
  readonly viewOnce?: boolean | undefined;
  readonly isForwarded?: boolean | undefined;
  /** Until it disappears; absent or 0: never. */
  readonly durationSeconds?: number | undefined;
  readonly quoted?: Quoted | undefined;
}

interface Media extends MediaSource {
  readonly contentType: string;
  readonly fileName?: string | undefined;
  /** A JPEG of a few KB that shows before the download; made by the caller, off the main thread. */
  readonly thumbnail?: Uint8Array | undefined;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
}

interface Quoted {
  readonly id: string;
  /** What `compose` gave for it; absent for a message that the recipient wrote. */
  readonly payload?: Uint8Array | undefined;
}

/** A payload, taken apart. */
export interface Composed {
  readonly id: string;
  readonly jid: string;
  readonly message: proto.IMessage;
}

const jidOf = (phone: string): string => `${phone}@s.whatsapp.net`;

const textContent = ({ text = "" }: Composition): proto.IMessage => ({ extendedTextMessage: { text } });

const mediaContent = async (
  socket: WASocket,
  { kind, text, media, viewOnce }: Composition,
  signal: AbortSignal,
): Promise<proto.IMessage> => {
  if (!media) throw new Error(`a message of kind ${kind} needs media`);
  const uploaded = await uploadMedia(socket, media, kind === "image" ? "image" : "document", signal);
  const common = {
    ...uploaded,
    mediaKeyTimestamp: Math.floor(Date.now() / 1_000),
    mimetype: media.contentType,
    ...(text && { caption: text }),
    ...(media.thumbnail && { jpegThumbnail: media.thumbnail }),
  };
  if (kind === "file") return { documentMessage: { ...common, fileName: media.fileName ?? "file" } };
  const { width, height } = media;
  return {
    imageMessage: { ...common, ...(width && height && { width, height }), ...(viewOnce && { viewOnce }) },
  };
};

/** The part of a content that says how it hangs together with others. */
const withContext = (content: proto.IMessage, contextInfo: proto.IContextInfo): proto.IMessage =>
  Object.fromEntries(Object.entries(content).map(([kind, part]) => [kind, { ...part, contextInfo }]));

const toQuoted = ({ id, payload }: Quoted, jid: string): WAMessage => {
  if (!payload) return { key: { id, remoteJid: jid, fromMe: false }, message: { conversation: "" } };
  const { key, message } = proto.WebMessageInfo.decode(payload);
  return {
    key: { id, remoteJid: key?.remoteJid ?? jid, fromMe: true },
    message: message ?? { conversation: "" },
  };
};

/**
 * Makes what goes to the recipient and uploads the media.
 *
 * The content is put together here and not by baileys' `generateWAMessageContent`: that one loses the
 * forwarded mark of what is to be viewed once, and asks for a file and an image library.
 *
 * @param own the account's jid.
 */
export const compose = async (
  socket: WASocket,
  own: string,
  composition: Composition,
  signal: AbortSignal,
): Promise<Uint8Array> => {
  const { id, phone, kind, viewOnce, isForwarded, durationSeconds, quoted } = composition;
  const jid = jidOf(phone);
  const plain = kind === "text" ? textContent(composition) : await mediaContent(socket, composition, signal);
  const content = isForwarded ? withContext(plain, { isForwarded: true, forwardingScore: 1 }) : plain;
  const shown = viewOnce && kind === "image" ? { viewOnceMessage: { message: content } } : content;
  const message = generateWAMessageFromContent(
    jid,
    // the secret is for abuse reports, which the recipient's phone signs with it
    proto.Message.fromObject({ ...shown, messageContextInfo: { messageSecret: randomBytes(32) } }),
    {
      userJid: own,
      messageId: id,
      ...(durationSeconds && { ephemeralExpiration: durationSeconds }),
      ...(quoted && { quoted: toQuoted(quoted, jid) }),
    },
  );
  return proto.WebMessageInfo.encode(message).finish();
};

/** @throws Error for bytes that `compose` has not made. */
export const decompose = (payload: Uint8Array): Composed => {
  const { key, message } = proto.WebMessageInfo.decode(payload);
  if (!key?.id || !key.remoteJid || !message) throw new Error("the payload is no composed message");
  return { id: key.id, jid: key.remoteJid, message };
};
