import { randomBytes } from "node:crypto";
import { generateWAMessageFromContent, proto, type WAMessage, type WASocket } from "baileys";
import type { Content, Outgoing } from "#lib/messenger/outbox/message.ts";
import type { Preview } from "../../preview.ts";
import { type MediaSource, uploadMedia } from "./upload.ts";

/**
 * A message as it shall appear on the recipient's phone; its text is the caption of media. The platform supports
 * `view_once` for images only: for other kinds it is ignored.
 */
export interface Composition
  extends Pick<Outgoing, "id" | "phone" | "kind">,
    Partial<Omit<Content, "reply_to" | "compress">> {
  /** The recipient's jid; by default that of the phone. */
  readonly jid?: string | undefined;
  readonly media?: Media | undefined;
  readonly quoted?: Quoted | undefined;
}

interface Media extends MediaSource {
  readonly contentType: string;
  readonly fileName?: string | undefined;
  readonly preview?: Preview | undefined;
}

interface Quoted {
  readonly id: string;
  /** What `compose` returned for it; absent for a message from the recipient. */
  readonly payload?: Uint8Array | undefined;
}

export interface Composed {
  readonly id: string;
  readonly jid: string;
  readonly message: proto.IMessage;
}

export const jidOf = (phone: string): string => `${phone}@s.whatsapp.net`;

const ownJid = (socket: WASocket): string => jidOf(socket.user?.id.split(/[:@]/)[0] ?? "");

const textContent = ({ text = "" }: Composition): proto.IMessage => ({ extendedTextMessage: { text } });

const mediaContent = async (
  socket: WASocket,
  { kind, text, media, view_once: viewOnce }: Composition,
  signal: AbortSignal,
): Promise<proto.IMessage> => {
  if (!media) throw new Error(`a message of kind ${kind} needs media`);
  const uploaded = await uploadMedia(socket, media, kind === "image" ? "image" : "document", signal);
  const common = {
    ...uploaded,
    mediaKeyTimestamp: Math.floor(Date.now() / 1_000),
    mimetype: media.contentType,
    ...(text && { caption: text }),
  };
  if (kind === "file") return { documentMessage: { ...common, fileName: media.fileName ?? "file" } };
  const { width, height, jpegThumbnail } = media.preview ?? {};
  const image = { ...common, ...(width && height && { width, height }) };
  // the thumbnail would remain visible after the only view
  if (viewOnce) return { imageMessage: { ...image, viewOnce } };
  return { imageMessage: { ...image, ...(jpegThumbnail && { jpegThumbnail }) } };
};

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
 * Builds a message's payload and uploads its media.
 *
 * This does not use baileys' `generateWAMessageContent`, which drops the forwarded flag of view-once messages
 * and needs a file and an image library.
 */
export const compose = async (
  socket: WASocket,
  composition: Composition,
  signal: AbortSignal,
): Promise<Uint8Array> => {
  const { id, phone, kind, view_once, is_forwarded, duration_seconds, quoted } = composition;
  const { jid = jidOf(phone) } = composition;
  const plain = kind === "text" ? textContent(composition) : await mediaContent(socket, composition, signal);
  const content = is_forwarded ? withContext(plain, { isForwarded: true, forwardingScore: 1 }) : plain;
  const shown = view_once && kind === "image" ? { viewOnceMessage: { message: content } } : content;
  const message = generateWAMessageFromContent(
    jid,
    // the recipient's phone signs abuse reports with this secret
    proto.Message.fromObject({ ...shown, messageContextInfo: { messageSecret: randomBytes(32) } }),
    {
      userJid: ownJid(socket),
      messageId: id,
      ...(duration_seconds && { ephemeralExpiration: duration_seconds }),
      ...(quoted && { quoted: toQuoted(quoted, jid) }),
    },
  );
  return proto.WebMessageInfo.encode(message).finish();
};

/** @throws Error for bytes that `compose` did not make. */
export const decompose = (payload: Uint8Array): Composed => {
  const { key, message } = proto.WebMessageInfo.decode(payload);
  if (!key?.id || !key.remoteJid || !message) throw new Error("the payload is not a composed message");
  return { id: key.id, jid: key.remoteJid, message };
};
