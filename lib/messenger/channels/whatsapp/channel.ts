import { generateMessageIDV2 } from "baileys";
import type postgres from "postgres";
import { getMedia, readMedia } from "../../outbox/media.ts";
import type { Outgoing } from "../../outbox/message.ts";
import type { payloadStore } from "../../outbox/payload.ts";
import type { Channel } from "../channel.ts";
import { fetchLimits } from "./limits.ts";
import { refreshRecipient } from "./recipient.ts";
import type { WhatsApp } from "./whatsapp.ts";

export const newMessageId = (): string => generateMessageIDV2();

/** Connects WhatsApp to the outbox, with its messages and their media. */
export const whatsAppChannel = (
  platform: WhatsApp,
  sql: postgres.Sql,
  payloads: ReturnType<typeof payloadStore>,
  signal: AbortSignal,
): Channel => {
  const openMedia = async (mediaId: number | null) => {
    if (mediaId === null) return undefined;
    const { id, contentType, fileName, sizeBytes } = await getMedia(sql, mediaId);
    return { open: () => readMedia(sql, id), contentType, fileName, sizeBytes };
  };
  return {
    isOpen: () => platform.state().kind === "open",
    findAddress: (phone) => platform.findJid(phone),
    async compose({ id, phone, kind, content, mediaId }: Outgoing, jid) {
      const { reply_to, ...shown } = content;
      // the content of a message to another number must not be shown to this one
      const quoted =
        reply_to === undefined ? undefined : { id: reply_to, payload: await payloads.find(reply_to, phone) };
      const media = await openMedia(mediaId);
      return platform.compose({ ...shown, id, phone, jid, kind, media, quoted }, signal);
    },
    send: (payload) => platform.send(payload, signal),
    fetchLimits: () => platform.query(fetchLimits),
    refreshRecipient: (phone) => platform.query((socket) => refreshRecipient(socket, phone)),
  };
};
