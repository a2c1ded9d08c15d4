import sharp, { type Metadata, type Sharp } from "sharp";
import { deadline, untilAborted } from "#lib/deadline.ts";
import { log } from "#lib/log.ts";
import { maxPixels } from "#lib/messaging/image-type.ts";

const maxSide = 1_600;
/** 4:4:4 keeps coloured text sharp; photographs become 15 to 30 % larger than with 4:2:0. */
const output = { quality: 75, chromaSubsampling: "4:4:4" };
/** Limit for images that are decoded as a whole: a typical progressive JPG of 40 megapixels takes 114 MiB. */
const maxWholeBytes = 128 * 1024 * 1024;
/** PNG is decoded in strips of rows: 40 megapixels take up to 130 MiB at this width, and 370 MiB at 65,500. */
const maxPngWidth = 16_384;
/** Nobody waits for it, but the messages with media behind it do. A quarter of a core does 5 s of work in this time. */
const defaultMaxMs = 20_000;

// one thread and no cache: the container is small, and images rarely repeat
sharp.concurrency(1);
sharp.cache(false);
// libvips supports a dozen more formats, and uses twice the memory for photographs with a gain map
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({
  operation: ["VipsForeignLoadJpegBuffer", "VipsForeignLoadPngBuffer", "VipsForeignLoadWebpBuffer"],
});

export interface DecodingOptions {
  /** Aborted when the result is not needed any more. */
  readonly signal?: AbortSignal;
  readonly maxMs?: number;
}

/**
 * Returns the bytes of an image that cannot be decoded row by row. A JPG has 2 bytes per coefficient. No WebP can, and
 * an animation takes three times the memory of its first frame.
 */
const countWholeBytes = (image: Metadata): number => {
  if (image.format === "webp") return image.width * image.height * 4 * (image.pages ? 3 : 1);
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

/** One image at a time, so that memory is bounded: libvips may still be at work on one that took too long. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Decodes an image when those before it are done. Rejects after the timeout, but the next turn starts only when libvips
 * stops: it checks the time between strips.
 */
export const inTurn = async (
  decode: (timeoutSeconds: number) => Promise<Buffer>,
  { signal, maxMs = defaultMaxMs }: DecodingOptions,
): Promise<Buffer> => {
  const turn = last;
  const work = turn.then(() => {
    signal?.throwIfAborted();
    return decode(Math.ceil(maxMs / 1_000));
  });
  last = work.catch(() => {});
  await untilAborted(turn, signal);
  return deadline(untilAborted(work, signal), maxMs);
};

/**
 * Converts an image that a channel does not take: JPG in sRGB, quality 75, at most 1600 pixels on the longer side, upright, on
 * white, without metadata; of an animation the first frame.
 *
 * @throws Error for an image that exceeds the limits of memory or time, or is damaged.
 */
export const convertImage = (bytes: Buffer, options: DecodingOptions = {}): Promise<Buffer> =>
  inTurn((seconds) => reencode(bytes, seconds), options);

/**
 * Compresses an image as `convertImage` does. One that exceeds the limits of memory or time, or would not become smaller, is
 * returned unchanged.
 */
export const compressImage = async (bytes: Buffer, options: DecodingOptions = {}): Promise<Buffer> => {
  try {
    const jpeg = await convertImage(bytes, options);
    return jpeg.length < bytes.length ? jpeg : bytes;
  } catch (error) {
    options.signal?.throwIfAborted();
    log.warn("image left unchanged", { reason: error instanceof Error ? error.message : "unknown" });
    return bytes;
  }
};
