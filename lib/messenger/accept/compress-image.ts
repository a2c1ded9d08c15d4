import sharp, { type Metadata, type Sharp } from "sharp";
import { deadline } from "#lib/deadline.ts";
import { badRequest } from "#lib/faults/invalid-input.ts";
import { log } from "#lib/log.ts";
import { findImageHeader, type ImageHeader } from "#lib/messaging/image-type.ts";

const maxPixels = 40_000_000;
const maxSide = 1_600;
/** 4:4:4 keeps coloured text sharp; photographs become 15 to 30 % larger than with 4:2:0. */
const output = { quality: 75, chromaSubsampling: "4:4:4" };
/** Limit for images that are decoded as a whole: a typical progressive JPG of 40 megapixels takes 114 MiB. */
const maxWholeBytes = 128 * 1024 * 1024;
/** PNG is decoded in strips of rows: 40 megapixels take up to 130 MiB at this width, and 370 MiB at 65,500. */
const maxPngWidth = 16_384;
/** The send functions wait 8 s for an upload: 2 s for its turn, 5 s for the work. */
export const limits = { waitMs: 2_000, workMs: 5_000 };

// one thread and no cache: the container is small, and images rarely repeat
sharp.concurrency(1);
sharp.cache(false);
// libvips supports a dozen other formats, and uses twice the memory for photographs with a gain map
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({ operation: ["VipsForeignLoadJpegBuffer", "VipsForeignLoadPngBuffer"] });

interface CompressedImage {
  readonly bytes: Buffer;
  readonly type: ImageHeader["type"];
}

/** Returns the bytes of an image that cannot be decoded row by row. A JPG has 2 bytes per coefficient. */
const countWholeBytes = (image: Metadata): number => {
  const { width, height, channels, format, depth, isProgressive, chromaSubsampling } = image;
  const samples = chromaSubsampling === "4:2:0" ? 1.5 : channels;
  return isProgressive ? width * height * samples * (format === "jpeg" || depth === "ushort" ? 2 : 1) : 0;
};

/** Opens an image for work of a limited time. @throws Error if decoding it would take too much memory. */
export const openImage = async (bytes: Buffer, timeoutSeconds: number): Promise<Sharp> => {
  const image = sharp(bytes, { limitInputPixels: maxPixels }).timeout({ seconds: timeoutSeconds });
  const metadata = await image.metadata();
  const isTooWide = metadata.format === "png" && metadata.width > maxPngWidth;
  if (isTooWide || countWholeBytes(metadata) > maxWholeBytes)
    throw new Error("decoding takes too much memory");
  // sharp would convert 16 bits to Display P3 without a profile; for a JPG this option would prevent shrink-on-load
  if (metadata.depth === "ushort") image.pipelineColourspace("srgb");
  return image;
};

const reencode = async (bytes: Buffer, timeoutSeconds: number): Promise<Buffer> => {
  const image = await openImage(bytes, timeoutSeconds);
  return image
    .autoOrient()
    .resize({ width: maxSide, height: maxSide, fit: "inside", withoutEnlargement: true })
    .flatten({ background: "white" })
    .jpeg(output)
    .toBuffer();
};

/** One image at a time, so that memory is bounded. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Decodes an image when those before it are done. Rejects after the timeout, but the next turn starts only when libvips
 * stops: it checks the time between strips.
 */
export const inTurn = async (
  decode: (timeoutSeconds: number) => Promise<Buffer>,
  { waitMs, workMs }: typeof limits,
): Promise<Buffer> => {
  const turn = last;
  const leaving = new AbortController();
  const work = turn.then(() => {
    leaving.signal.throwIfAborted();
    return decode(Math.ceil(workMs / 1_000));
  });
  last = work.catch(() => {});
  await deadline(turn, waitMs, () => {
    leaving.abort();
    return new Error("other images are being compressed");
  });
  return deadline(work, workMs);
};

/**
 * Compresses an image: JPG in sRGB, quality 75, at most 1600 pixels on the longer side, upright, on white,
 * without metadata. An image that exceeds the limits of memory or time, or would not become smaller, is returned
 * unchanged.
 *
 * @throws Fault 400 if it is neither JPG nor PNG, or has more than 40 megapixels.
 */
export const compressImage = async (bytes: Buffer, most = limits): Promise<CompressedImage> => {
  const header = findImageHeader(bytes);
  if (!header) throw badRequest("The image must be a JPG or PNG");
  if (header.width * header.height > maxPixels)
    throw badRequest("The image must have at most 40 megapixels to be compressed");
  const original = { bytes, type: header.type };
  try {
    const jpeg = await inTurn((seconds) => reencode(bytes, seconds), most);
    return jpeg.length < bytes.length ? { bytes: jpeg, type: "image/jpeg" } : original;
  } catch (error) {
    log.warn("image left unchanged", { reason: error instanceof Error ? error.message : "unknown" });
    return original;
  }
};
