import { randomUUID } from "node:crypto";
import { buffer } from "node:stream/consumers";
import type postgres from "postgres";
import * as z from "zod/mini";
import { findImageHeader } from "#lib/messaging/image-type.ts";
import { getMedia, readMedia } from "#lib/messenger/outbox/media.ts";
import type { Outgoing } from "#lib/messenger/outbox/message.ts";
import { ChannelFailure, Unsendable } from "../channel.ts";
import { findRejection } from "../codes.ts";
import { compressImage, convertImage } from "../compress-image.ts";
import { isAmbiguous, isOfAccount } from "./codes.ts";
import type { Answer, Graph } from "./graph.ts";
import type { Media } from "./message.ts";
import type { CloudApiSettings } from "./settings.ts";

/** @see https://developers.facebook.com/docs/whatsapp/cloud-api/reference/media#supported-media-types */
const maxImageBytes = 5 * 1024 * 1024;
const maxDocumentBytes = 100 * 1024 * 1024;
/** Enough for 100 MiB at 7 Mbit/s. */
const timeoutMs = 120_000;

interface Content extends Omit<Media, "upload"> {
  readonly type: string;
  readonly sizeBytes: number;
  readonly open: () => AsyncIterable<Uint8Array>;
}

const Stored = z.object({ id: z.string().check(z.regex(/^\w{1,200}$/)) });

/**
 * The platform takes images in RGB or RGBA with 8 bits alone: others are converted.
 * @see https://developers.facebook.com/docs/whatsapp/cloud-api/reference/media#supported-media-types
 */
const toRgb = async (bytes: Buffer, signal: AbortSignal): Promise<Buffer> => {
  if (findImageHeader(bytes)?.isRgb8) return bytes;
  return convertImage(bytes, { signal }).catch(() => {
    signal.throwIfAborted();
    throw new Unsendable(
      "This channel takes an image in RGB with 8 bits, to which this one cannot be converted",
    );
  });
};

/** An image that is too large is compressed, also unasked. */
const openImage = async (
  sql: postgres.Sql,
  id: number,
  compress: boolean | undefined,
  signal: AbortSignal,
): Promise<Content> => {
  const { contentType, sizeBytes } = await getMedia(sql, id);
  const original = await buffer(readMedia(sql, id));
  const isCompressed = compress || sizeBytes > maxImageBytes;
  const bytes = await toRgb(isCompressed ? await compressImage(original, { signal }) : original, signal);
  if (bytes.length > maxImageBytes)
    throw new Unsendable("This channel takes an image of at most 5 MiB, also after its compression");
  return {
    kind: "image",
    type: bytes === original ? contentType : "image/jpeg",
    sizeBytes: bytes.length,
    fileName: undefined,
    open: async function* () {
      yield bytes;
    },
  };
};

/**
 * Templates take PDF alone, unlike messages within a conversation.
 * @see https://developers.facebook.com/docs/whatsapp/cloud-api/reference/messages#parameter-object
 */
const openDocument = async (sql: postgres.Sql, id: number): Promise<Content> => {
  const { contentType, fileName, sizeBytes } = await getMedia(sql, id);
  const type = "application/pdf";
  if (contentType.toLowerCase().split(";")[0]?.trim() !== type)
    throw new Unsendable("This channel takes files of type PDF alone");
  if (sizeBytes > maxDocumentBytes) throw new Unsendable("This channel takes a file of at most 100 MiB");
  return { kind: "document", type, sizeBytes, fileName, open: () => readMedia(sql, id) };
};

/** The form of an upload, as a stream of known length. */
const toForm = ({ type, sizeBytes, open }: Content) => {
  const boundary = randomUUID();
  const part = (name: string, more = "") =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n`;
  const file = part("file", `; filename="file"\r\ncontent-type: ${type}`);
  const head = `${part("messaging_product")}whatsapp\r\n${part("type")}${type}\r\n${file}`;
  const tail = `\r\n--${boundary}--\r\n`;
  return {
    headers: {
      "content-type": `multipart/form-data; boundary=${boundary}`,
      "content-length": String(head.length + sizeBytes + tail.length),
    },
    body: (async function* () {
      yield Buffer.from(head);
      yield* open();
      yield Buffer.from(tail);
    })(),
  };
};

/** @returns the id of what was uploaded. @throws Unsendable, ChannelFailure */
const judge = ({ status, json, code }: Answer): string => {
  const stored = Stored.safeParse(json);
  if (status === 200 && stored.success) return stored.data.id;
  if (code === undefined || isAmbiguous(status, code)) throw new ChannelFailure("upload-failed", false);
  if (isOfAccount(code)) throw new ChannelFailure("not-connected", false);
  if (findRejection("cloud-api", String(code)).action !== "fail")
    throw new ChannelFailure("upload-failed", false);
  throw new Unsendable(`The platform does not take the media, code ${code}`);
};

/**
 * Reads the media of a message; their upload may be repeated, and the platform keeps it for 30 days.
 *
 * @throws Unsendable for media that the platform does not take.
 */
export const openMedia = async (
  sql: postgres.Sql,
  graph: Graph,
  settings: CloudApiSettings,
  { kind, content, mediaId }: Pick<Outgoing, "kind" | "content" | "mediaId">,
  signal: AbortSignal,
): Promise<Media | undefined> => {
  if (mediaId === null) return undefined;
  const media = await (kind === "image"
    ? openImage(sql, mediaId, content.compress, signal)
    : openDocument(sql, mediaId));
  const path = `/${settings.phone_number_id}/media`;
  const upload = async () => {
    const answer = await graph(settings, { method: "POST", path, ...toForm(media), timeoutMs, signal }).catch(
      (error: ChannelFailure) => {
        throw error.reason === "aborted" ? error : new ChannelFailure("upload-failed", false, error);
      },
    );
    return judge(answer);
  };
  return { ...media, upload };
};
