import sharp from "sharp";
import { log } from "#lib/log.ts";
import { findImageHeader } from "#lib/messaging/image-type.ts";
import { type DecodingOptions, inTurn, openImage } from "./compress-image.ts";

/** What a phone shows of an image before it has downloaded it. */
export interface Preview {
  /** In pixels, upright. */
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  /** JPG of at most 100 pixels on the longer side: 1 to 6 KB. */
  readonly jpegThumbnail?: Uint8Array | undefined;
}

type Size = Pick<Preview, "width" | "height">;

const maxSide = 100;
const defaultMaxMs = 5_000;

const shrink = async (bytes: Buffer, timeoutSeconds: number): Promise<Buffer> => {
  const image = await openImage(bytes, timeoutSeconds);
  return image
    .autoOrient()
    .resize({ width: maxSide, height: maxSide, fit: "inside", withoutEnlargement: true })
    .flatten({ background: "white" })
    .jpeg({ quality: 60 })
    .toBuffer();
};

/** Reads only the header, and the orientation of a JPG. */
const readSize = async (bytes: Buffer): Promise<Size> => {
  const image = sharp(bytes, { limitInputPixels: false });
  const { width, height } = await image.metadata().then(
    ({ autoOrient }): Size => autoOrient,
    (): Size => findImageHeader(bytes) ?? {},
  );
  return { width, height };
};

/** Makes the preview of an image. One that cannot be decoded within the limits has no thumbnail. */
export const previewImage = async (bytes: Buffer, options: DecodingOptions = {}): Promise<Preview> => {
  const size = await readSize(bytes);
  try {
    return {
      ...size,
      jpegThumbnail: await inTurn((seconds) => shrink(bytes, seconds), { maxMs: defaultMaxMs, ...options }),
    };
  } catch (error) {
    options.signal?.throwIfAborted();
    log.warn("image has no thumbnail", { reason: error instanceof Error ? error.message : "unknown" });
    return size;
  }
};
