import { buffer } from "node:stream/consumers";
import { generateMessageIDV2 } from "baileys";
import type postgres from "postgres";
import { getMedia, readMedia } from "../../outbox/media.ts";
import type { Outgoing } from "../../outbox/message.ts";
import type { payloadStore } from "../../outbox/payload.ts";
import type { Channel } from "../channel.ts";
import type { Preview } from "./composition.ts";
import type { WhatsApp } from "./whatsapp.ts";

export const newMessageId = (): string => generateMessageIDV2();

/** Connects WhatsApp to the outbox, with its messages and their media. */
export const whatsAppChannel = (
  platform: WhatsApp,
  sql: postgres.Sql,
  payloads: ReturnType<typeof payloadStore>,
  previewImage: (bytes: Buffer) => Promise<Preview>,
  signal: AbortSignal,
): Channel => {
  const openMedia = async ({ mediaId, kind }: Outgoing) => {
    if (mediaId === null) return undefined;
    const { id, contentType, fileName } = await getMedia(sql, mediaId);
    const open = () => readMedia(sql, id);
    const preview = kind === "image" ? await previewImage(await buffer(open())) : undefined;
    return { open, contentType, fileName, preview };
  };
  return {
    isOpen: () => platform.state().kind === "open",
    isRegistered: (phone) => platform.isRegistered(phone),
    async compose(message: Outgoing) {
      const { id, phone, kind, content } = message;
      const { reply_to, ...shown } = content;
      // the content of a message to another number must not be shown to this one
      const quoted =
        reply_to === undefined ? undefined : { id: reply_to, payload: await payloads.find(reply_to, phone) };
      return platform.compose({ ...shown, id, phone, kind, media: await openMedia(message), quoted }, signal);
    },
    send: (payload) => platform.send(payload, signal),
  };
};
