import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { buildConnector } from "undici";
import { badRequest } from "#lib/errors/invalid-input.ts";
import { findImageHeader, isWebp, maxPixels } from "#lib/messaging/image-type.ts";
import type { Submission } from "#lib/messaging/submission.ts";
import type { Source } from "./acceptance.ts";
import { type Download, openDownload } from "./download.ts";
import { sanitizeFileName, withExtension } from "./file-name.ts";
import { findPage, isNamedPage, withType } from "./media-type.ts";

export const maxImageBytes = 16 * 1024 * 1024;
export const maxFileBytes = 50 * 1024 * 1024;

type Raw = Pick<Source, "body"> & Pick<Download, "contentType" | "fileName">;

const empty = () => badRequest("The file is empty; send one that has content");

const pages = {
  html: "a web page, such as a login or sharing page",
  json: "JSON, such as an error",
} as const;

const notTheFile = (page: keyof typeof pages) =>
  badRequest(
    `The URL answers ${pages[page]}, instead of the file; use the one from which the file itself is downloaded`,
  );

/** Makes a JPG of an image. @throws Error for one that cannot be decoded. */
export type Convert = (bytes: Buffer) => Promise<Buffer>;

/** Many sites serve their pictures as WebP, which no channel takes. */
const toJpeg = async (bytes: Buffer, convert: Convert): Promise<Buffer> => {
  try {
    return await convert(bytes);
  } catch {
    throw badRequest("The WebP image is damaged or too large to be converted; send it as JPG or PNG");
  }
};

/**
 * Reads a whole image and checks its header, whatever its name or type. It is compressed when it is sent: that takes some
 * seconds, and the send functions wait 8 s.
 */
const readImage = async (
  { body, fileName, contentType }: Raw,
  compress: boolean,
  convert: Convert | undefined,
): Promise<Source> => {
  const original = await buffer(body);
  const bytes = convert && isWebp(original) ? await toJpeg(original, convert) : original;
  if (bytes.length === 0) throw empty();
  const header = findImageHeader(bytes);
  const page =
    header || !contentType ? undefined : findPage(bytes.subarray(0, 1_024), contentType, undefined);
  if (page) throw notTheFile(page);
  if (!header) throw badRequest("The image must be a JPG or PNG by its content");
  if (compress && header.width * header.height > maxPixels)
    throw badRequest("The image must have at most 40 megapixels to be compressed");
  return { contentType: header.type, fileName, body: Readable.from([bytes]) };
};

const toSource = async (
  raw: Raw,
  { kind, compress, file_name, content_type, url }: Submission,
  convert?: Convert,
): Promise<Source> => {
  if (kind === "image") return readImage(raw, compress, convert);
  const name = sanitizeFileName(file_name ?? "") ?? raw.fileName ?? "file";
  const types = [content_type, raw.contentType];
  const { contentType, body, beginning, detected } = await withType(types, name, raw.body);
  if (beginning.length === 0) throw empty();
  const page = url === undefined ? undefined : findPage(beginning, raw.contentType, detected);
  if (page && !isNamedPage(page, raw.fileName, beginning)) throw notTheFile(page);
  return { contentType, body, fileName: withExtension(name, contentType) };
};

/**
 * Opens the media of a submission: the uploaded bytes, or a download from its URL.
 *
 * @param connector which addresses a download may reach; only the public web by default.
 * @param convert makes a JPG of a WebP image at a URL; without it, one is rejected.
 * @throws ApiError 400 for a URL that cannot be fetched or an invalid image; 413 for too many bytes.
 */
export const openSource = async (
  submission: Submission,
  inline: Uint8Array | undefined,
  connector?: buildConnector.connector,
  convert?: Convert,
): Promise<Source> => {
  const { kind, url } = submission;
  if (inline)
    return toSource(
      { body: Readable.from([inline]), contentType: undefined, fileName: undefined },
      submission,
    );
  const maxBytes = kind === "image" ? maxImageBytes : maxFileBytes;
  const download = await openDownload(url ?? "", { maxBytes, connector });
  return toSource(download, submission, convert).catch(async (error: unknown) => {
    await download.close();
    throw error;
  });
};
