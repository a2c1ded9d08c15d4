import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { buildConnector } from "undici";
import { badRequest } from "#lib/faults/invalid-input.ts";
import { findImageHeader, maxPixels } from "#lib/messaging/image-type.ts";
import type { Submission } from "#lib/messaging/submission.ts";
import type { Source } from "./acceptance.ts";
import { type Download, openDownload } from "./download.ts";
import { sanitizeFileName } from "./file-name.ts";
import { withType } from "./media-type.ts";

export const maxImageBytes = 16 * 1024 * 1024;
export const maxFileBytes = 50 * 1024 * 1024;

type Raw = Pick<Source, "body"> & Pick<Download, "contentType" | "fileName">;

/**
 * Reads a whole image and checks its header, whatever its name or type. It is compressed when it is sent: that takes some
 * seconds, and the send functions wait 8 s.
 */
const readImage = async ({ body, fileName }: Raw, compress: boolean): Promise<Source> => {
  const bytes = await buffer(body);
  const header = findImageHeader(bytes);
  if (!header) throw badRequest("The image must be a JPG or PNG by its content");
  if (compress && header.width * header.height > maxPixels)
    throw badRequest("The image must have at most 40 megapixels to be compressed");
  return { contentType: header.type, fileName, body: Readable.from([bytes]) };
};

const toSource = async (
  raw: Raw,
  { kind, compress, file_name, content_type }: Submission,
): Promise<Source> => {
  if (kind === "image") return readImage(raw, compress);
  const fileName = sanitizeFileName(file_name ?? "") ?? raw.fileName ?? "file";
  return { ...(await withType([content_type, raw.contentType], fileName, raw.body)), fileName };
};

/**
 * Opens the media of a submission: the uploaded bytes, or a download from its URL.
 *
 * @param connector which addresses a download may reach; only the public web by default.
 * @throws Fault 400 for a URL that cannot be fetched or an invalid image; 413 for too many bytes.
 */
export const openSource = async (
  submission: Submission,
  inline: Uint8Array | undefined,
  connector?: buildConnector.connector,
): Promise<Source> => {
  const { kind, url } = submission;
  if (inline)
    return toSource(
      { body: Readable.from([inline]), contentType: undefined, fileName: undefined },
      submission,
    );
  const maxBytes = kind === "image" ? maxImageBytes : maxFileBytes;
  return toSource(await openDownload(url ?? "", { maxBytes, connector }), submission);
};
