import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type postgres from "postgres";
import { getMedia, readMedia } from "#lib/messenger/outbox/media.ts";
import type { Outgoing } from "#lib/messenger/outbox/message.ts";
import type { payloadStore } from "#lib/messenger/outbox/payload.ts";
import type { Channel } from "../channel.ts";
import { compressImage } from "../compress-image.ts";
import { previewImage } from "../preview.ts";
import { fetchLimits } from "./limits.ts";
import { refreshRecipient } from "./message/recipient.ts";
import type { WhatsApp } from "./whatsapp.ts";

/** Makes an id in the form of Baileys, whose own maker takes ten times as long: Node buffers random bytes for UUIDs. */
export const newMessageId = (): string => {
  const uuid = randomUUID();
  return `3EB0${uuid.slice(0, 8)}${uuid.slice(-10)}`.toUpperCase();
};

/** Connects WhatsApp to the outbox, with its messages and their media. */
export const whatsAppChannel = (
  platform: WhatsApp,
  sql: postgres.Sql,
  payloads: ReturnType<typeof payloadStore>,
  signal: AbortSignal,
): Channel => {
  /** Reads an image whole, to compress it and for its preview; another file as it is uploaded. */
  const openMedia = async ({ mediaId, kind, content }: Outgoing) => {
    if (mediaId === null) return undefined;
    const { id, contentType, fileName } = await getMedia(sql, mediaId);
    const stored = { open: () => readMedia(sql, id), contentType, fileName };
    if (kind !== "image") return stored;
    const original = await buffer(stored.open());
    const bytes = content.compress ? await compressImage(original, { signal }) : original;
    const preview = await previewImage(bytes, { signal });
    if (bytes === original) return { ...stored, preview };
    return { open: () => Readable.from([bytes]), contentType: "image/jpeg", fileName, preview };
  };
  return {
    name: "whatsapp",
    canRepeat: true,
    directory: {
      findAddress: (phone) => platform.findJid(phone),
      knowsDevices: (jid) => platform.devices?.know(jid) ?? false,
      listReachable: () => platform.devices?.listKnown() ?? [],
      refreshRecipient: (jid) => platform.query((socket) => refreshRecipient(socket, jid)),
    },
    isOpen: () => platform.state().kind === "open",
    async compose(message: Outgoing, jid) {
      const { id, phone, kind, content } = message;
      const { reply_to, compress: _, ...shown } = content;
      const media = await openMedia(message);
      // the content of a message to another number must not be shown to this one
      const quoted =
        reply_to === undefined ? undefined : { id: reply_to, payload: await payloads.find(reply_to, phone) };
      return platform.compose({ ...shown, id, phone, jid, kind, media, quoted }, signal);
    },
    send: (payload) => platform.send(payload, signal),
    fetchLimits: () => platform.query(fetchLimits),
  };
};
