import type postgres from "postgres";
import type { Sealing } from "../../encryption.ts";
import { getMedia, readMedia } from "../../outbox/media.ts";
import type { Outgoing } from "../../outbox/message.ts";
import { findPayload } from "../../outbox/outbox.ts";
import type { Messenger } from "../../send/sender.ts";
import type { Platform } from "./whatsapp.ts";

const placeOf = (id: string) => `message/${id}`;

/** What goes out, sealed in the outbox. */
export const payloadStore = (sql: postgres.Sql, sealing: Sealing) => ({
  seal: (id: string, payload: Uint8Array): Uint8Array => sealing.seal(placeOf(id), payload),
  open: (id: string, sealed: Uint8Array): Uint8Array => sealing.open(placeOf(id), sealed),
  async find(id: string): Promise<Uint8Array | undefined> {
    const sealed = await findPayload(sql, id);
    return sealed && sealing.open(placeOf(id), sealed);
  },
});

/** The platform as the sender uses it: with the outbox's messages and their media. */
export const messengerOn = (
  platform: Platform,
  sql: postgres.Sql,
  payloads: ReturnType<typeof payloadStore>,
  signal: AbortSignal,
): Messenger => {
  const openMedia = async (mediaId: number | null) => {
    if (mediaId === null) return undefined;
    const { id, contentType, fileName, sizeBytes } = await getMedia(sql, mediaId);
    return { open: () => readMedia(sql, id), contentType, fileName, sizeBytes };
  };
  return {
    isOpen: () => platform.state().kind === "open",
    isRegistered: (phone) => platform.isRegistered(phone),
    async compose({ id, phone, kind, content, mediaId }: Outgoing) {
      const { text, view_once, is_forwarded, duration_seconds, reply_to } = content;
      const quoted =
        reply_to === undefined ? undefined : { id: reply_to, payload: await payloads.find(reply_to) };
      return platform.compose(
        {
          ...{ id, phone, kind, text, media: await openMedia(mediaId), quoted },
          ...{ viewOnce: view_once, isForwarded: is_forwarded, durationSeconds: duration_seconds },
        },
        signal,
      );
    },
    send: (payload) => platform.send(payload, signal),
  };
};
