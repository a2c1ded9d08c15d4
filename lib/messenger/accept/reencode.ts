import { Jimp } from "jimp";
import { findImageHeader, type ImageHeader } from "#lib/messaging/image-type.ts";
import { type BlockSize, decodeJpeg, type Rows } from "./jpeg-decoder.ts";
import { shrink } from "./shrink.ts";

const maxSide = 1_600;
const quality = 75;

/** As small as it can be decoded with enough pixels left for the result. */
const chooseBlockSize = ({ width, height }: ImageHeader): BlockSize => {
  const side = Math.max(width, height);
  return ([1, 2, 4] as const).find((size) => (side * size) / 8 >= maxSide) ?? 8;
};

/** pngjs unpacks an interlaced picture without limit, and believes a second header: it is given neither. */
const isTame = (png: Buffer) => png[28] === 0 && !png.includes("IHDR", 33);

const readPng = async (bytes: Buffer): Promise<Rows> => {
  if (!isTame(bytes)) throw new Error("an interlaced PNG, or one with two headers");
  const { bitmap } = await Jimp.fromBuffer(bytes);
  const { width, height, data } = bitmap;
  const readRow = (y: number, into: Uint8Array) => {
    for (let x = 0; x < width; x++) {
      const at = (y * width + x) * 4;
      const alpha = (data[at + 3] as number) / 255;
      // a JPG has no transparency: what shows through is white paper
      for (let c = 0; c < 3; c++)
        into[x * 3 + c] = (data[at + c] as number) * alpha + 255 * (1 - alpha) + 0.5;
    }
  };
  return { width, height, readRow };
};

/**
 * Makes a JPG of a JPG or PNG: upright, at most 1600 pixels on the longer side, quality 75, no metadata.
 *
 * Takes its time, up to seconds, on the thread that calls it: see `compressImage`.
 *
 * @throws Error if the picture cannot be decoded.
 */
export const reencode = async (bytes: Buffer): Promise<Buffer> => {
  const header = findImageHeader(bytes);
  if (!header) throw new Error("neither JPG nor PNG");
  const rows =
    header.type === "image/png" ? await readPng(bytes) : decodeJpeg(bytes, chooseBlockSize(header));
  const image = new Jimp(shrink(rows, maxSide, header.orientation));
  return image.getBuffer("image/jpeg", { quality });
};
