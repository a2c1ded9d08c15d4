import { buffer } from "node:stream/consumers";
import type { buildConnector } from "undici";
import { badRequest } from "#lib/faults/invalid-input.ts";
import { findImageHeader } from "#lib/messaging/image-type.ts";
import type { Submission } from "#lib/messaging/submission.ts";
import type { Source } from "./acceptance.ts";
import { compressImage } from "./compress-image.ts";
import { openDownload } from "./download.ts";

const maxImageBytes = 16 * 1024 * 1024;
const maxFileBytes = 50 * 1024 * 1024;

/** The bytes of an image or a file, with what is known about them. */
interface Raw {
  readonly body: AsyncIterable<Uint8Array>;
  readonly contentType: string | undefined;
  readonly fileName: string | undefined;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** An image is looked at as a whole: it must be one, whatever it is called. */
const readImage = async ({ body, fileName }: Raw, compress: boolean): Promise<Source> => {
  const bytes = await buffer(body);
  const header = findImageHeader(bytes);
  if (!header) throw badRequest("The image must be a JPG or PNG, by its content");
  const image = compress ? await compressImage(bytes) : { bytes, type: header.type };
  return { contentType: image.type, fileName, body: once(image.bytes) };
};

const toSource = (
  raw: Raw,
  { kind, compress, file_name, content_type }: Submission,
): Promise<Source> | Source => {
  if (kind === "image") return readImage(raw, compress);
  return {
    contentType: content_type ?? raw.contentType ?? "application/octet-stream",
    fileName: file_name ?? raw.fileName ?? "file",
    body: raw.body,
  };
};

/**
 * Opens the media of a submission: the bytes that came along, or what its address leads to.
 *
 * @param connector what a download may reach; the public web where there is none.
 * @throws Fault 400 for an address that cannot be fetched or an image that is none; 413 for too much.
 */
export const openSource = async (
  submission: Submission,
  inline: Uint8Array | undefined,
  connector?: buildConnector.connector,
): Promise<Source> => {
  const { kind, url } = submission;
  if (inline)
    return toSource({ body: once(inline), contentType: undefined, fileName: undefined }, submission);
  const maxBytes = kind === "image" ? maxImageBytes : maxFileBytes;
  return toSource(await openDownload(url ?? "", { maxBytes, connector }), submission);
};
