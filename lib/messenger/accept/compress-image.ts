import sharp, { type Metadata } from "sharp";
import { deadline } from "#lib/deadline.ts";
import { badRequest } from "#lib/faults/invalid-input.ts";
import { log } from "#lib/log.ts";
import { findImageHeader, type ImageHeader } from "#lib/messaging/image-type.ts";

const maxPixels = 40_000_000;
const maxSide = 1_600;
/** Full colour resolution keeps coloured text clear; photographs take 15 to 30 % more than with half of it. */
const output = { quality: 75, chromaSubsampling: "4:4:4" };
/** Of an image that is decoded as a whole: a usual progressive JPG of 40 megapixels has 114 MiB. */
const maxWholeBytes = 128 * 1024 * 1024;
/** A PNG is decoded in strips of rows: 40 megapixels take up to 130 MiB at this width, 370 at 65,500. */
const maxPngWidth = 16_384;
/** The send functions wait 8 s for an upload; 40 megapixels take 2 to 5 s on a quarter of a core. */
const maxMs = 6_000;

// one thread and no cache: the container is small, and an image rarely comes twice
sharp.concurrency(1);
sharp.cache(false);
// libvips decodes a dozen other formats, and photographs with a gain map in twice the memory
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({ operation: ["VipsForeignLoadJpegBuffer", "VipsForeignLoadPngBuffer"] });

interface CompressedImage {
  readonly bytes: Buffer;
  readonly type: ImageHeader["type"];
}

/** What must be decoded as a whole, and not row by row. A JPG has 2 bytes for each coefficient. */
const countWholeBytes = (image: Metadata): number => {
  const { width, height, channels, format, depth, isProgressive, chromaSubsampling } = image;
  const samples = chromaSubsampling === "4:2:0" ? 1.5 : channels;
  return isProgressive ? width * height * samples * (format === "jpeg" || depth === "ushort" ? 2 : 1) : 0;
};

const reencode = async (bytes: Buffer, timeoutSeconds: number): Promise<Buffer> => {
  const image = sharp(bytes, { limitInputPixels: maxPixels }).timeout({ seconds: timeoutSeconds });
  const metadata = await image.metadata();
  const isTooWide = metadata.format === "png" && metadata.width > maxPngWidth;
  if (isTooWide || countWholeBytes(metadata) > maxWholeBytes) throw new Error("it needs too much memory");
  // sharp takes 16 bits to Display P3, which the result does not name; a JPG would not shrink on load with this
  if (metadata.depth === "ushort") image.pipelineColourspace("srgb");
  return image
    .autoOrient()
    .resize({ width: maxSide, height: maxSide, fit: "inside", withoutEnlargement: true })
    .flatten({ background: "white" })
    .jpeg(output)
    .toBuffer();
};

/** One image at a time, so that memory is bounded however many ask. */
let last: Promise<unknown> = Promise.resolve();

/** Rejects in time. The next turn starts when libvips ends: it checks the time only between strips. */
const reencodeInTurn = (bytes: Buffer, timeoutMs: number): Promise<Buffer> => {
  const turn = last;
  const work = turn.then(() => reencode(bytes, Math.ceil(timeoutMs / 1_000)));
  last = work.catch(() => {});
  return turn.then(() => deadline(work, timeoutMs));
};

/**
 * Makes an image smaller: JPG in sRGB, quality 75, at most 1600 pixels on the longer side, upright, on white,
 * without metadata. One image at a time, off the event loop. An image that cannot be decoded within the limits
 * of memory and time, or would not get smaller, is returned unchanged.
 *
 * @throws Fault 400 if it is neither JPG nor PNG, or has more than 40 megapixels.
 */
export const compressImage = async (bytes: Buffer, timeoutMs = maxMs): Promise<CompressedImage> => {
  const header = findImageHeader(bytes);
  if (!header) throw badRequest("The image must be a JPG or PNG");
  if (header.width * header.height > maxPixels)
    throw badRequest("The image must have at most 40 megapixels to be compressed");
  const original = { bytes, type: header.type };
  try {
    const jpeg = await reencodeInTurn(bytes, timeoutMs);
    return jpeg.length < bytes.length ? { bytes: jpeg, type: "image/jpeg" } : original;
  } catch (error) {
    log.warn("image left unchanged", { reason: error instanceof Error ? error.message : "unknown" });
    return original;
  }
};
