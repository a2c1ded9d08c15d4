import { crc32 } from "node:zlib";

/** Type and size of an image, read without decoding it. */
export interface ImageHeader {
  readonly type: "image/jpeg" | "image/png";
  /** In pixels, before the orientation is applied. */
  readonly width: number;
  readonly height: number;
  /** Whether a pixel has 8 bits each of red, green and blue, and no palette; also with transparency. */
  readonly isRgb8: boolean;
}

/** Of an image that is to be compressed: acceptance rejects more. */
export const maxPixels = 40_000_000;

const pngSignature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
/** Bit depths by colour type (PNG specification, table 11.1). */
const pngDepths: Record<number, readonly number[]> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
};

const findPngHeader = (bytes: Buffer): ImageHeader | undefined => {
  if (bytes.length < 33 || !bytes.subarray(0, 8).equals(pngSignature)) return undefined;
  if (bytes.readUInt32BE(8) !== 13 || bytes.toString("latin1", 12, 16) !== "IHDR") return undefined;
  if (crc32(bytes.subarray(12, 29)) !== bytes.readUInt32BE(29)) return undefined;
  const [depth = 0, colour = 0, compression, filter, interlace = 0] = bytes.subarray(24, 29);
  if (!pngDepths[colour]?.includes(depth) || compression !== 0 || filter !== 0 || interlace > 1)
    return undefined;
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  if (width === 0 || height === 0) return undefined;
  return { type: "image/png", width, height, isRgb8: depth === 8 && (colour === 2 || colour === 6) };
};

/** Start of frame: C0 to CF, except DHT (C4), JPG (C8) and DAC (CC). */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

const findJpegHeader = (bytes: Buffer): ImageHeader | undefined => {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return undefined;
  for (let at = 2; at + 10 <= bytes.length; ) {
    // decoders skip bytes between segments, and escaped ones
    if (bytes[at] !== 0xff || bytes[at + 1] === 0) {
      const next = bytes.indexOf(0xff, at + 1);
      if (next === -1) return undefined;
      at = next;
      continue;
    }
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) {
      at += 1; // fill byte
      continue;
    }
    // a scan, the end, or a marker without length must not precede the frame
    if (marker < 0xc0 || (marker >= 0xd0 && marker <= 0xda)) return undefined;
    const length = bytes.readUInt16BE(at + 2);
    const segment = bytes.subarray(at + 4, at + 2 + length);
    if (length < 2 || segment.length < length - 2) return undefined;
    if (isFrame(marker)) {
      const [precision = 0, , , , , components = 0] = segment;
      const [height, width] = [bytes.readUInt16BE(at + 5), bytes.readUInt16BE(at + 7)];
      const isValid = [8, 12].includes(precision) && [1, 3, 4].includes(components);
      if (!isValid || segment.length !== 6 + 3 * components || width === 0 || height === 0) return undefined;
      return { type: "image/jpeg", width, height, isRgb8: precision === 8 && components === 3 };
    }
    at += 2 + length;
  }
  return undefined;
};

/** Recognises a WebP by its content. */
export const isWebp = (bytes: Buffer): boolean =>
  bytes.toString("latin1", 0, 4) === "RIFF" && bytes.toString("latin1", 8, 12) === "WEBP";

/**
 * Recognises a JPG or PNG by its content, whatever its name or type.
 *
 * @param bytes the beginning of the file: 33 bytes of a PNG; a JPG up to its frame, which is within the first MiB
 *   unless more than 15 segments of metadata precede it.
 */
export const findImageHeader = (bytes: Buffer): ImageHeader | undefined =>
  findPngHeader(bytes) ?? findJpegHeader(bytes);
