import { crc32 } from "node:zlib";

/** The header of an image, read without decoding pixels. */
export interface ImageHeader {
  readonly type: "image/jpeg" | "image/png";
  /** In pixels as stored, before the orientation is applied. */
  readonly width: number;
  readonly height: number;
  /** EXIF orientation, 1 (upright) to 8. */
  readonly orientation: number;
}

const pngSignature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
/** The allowed bit depths by colour type (PNG specification, table 11.1). */
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
  return { type: "image/png", width, height, orientation: 1 };
};

/** Reads the orientation from the TIFF structure in an APP1 segment; 1 if it is missing. */
const readOrientation = (tiff: Buffer): number => {
  const little = tiff.toString("latin1", 0, 2) === "II";
  const read16 = (at: number) => (little ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  try {
    const directory = little ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
    for (let i = 0; i < read16(directory); i++) {
      const entry = directory + 2 + i * 12;
      if (read16(entry) !== 0x0112) continue;
      const orientation = read16(entry + 8);
      return orientation >= 1 && orientation <= 8 ? orientation : 1;
    }
  } catch {
    // an offset is outside of the segment
  }
  return 1;
};

/** Start of frame: C0 to CF, except DHT (C4), JPG (C8) and DAC (CC). */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

const findJpegHeader = (bytes: Buffer): ImageHeader | undefined => {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return undefined;
  let orientation = 1;
  for (let at = 2; at + 10 <= bytes.length; ) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) {
      at += 1; // fill byte
      continue;
    }
    // scans, the end and markers without a length are invalid before the frame
    if (marker < 0xc0 || (marker >= 0xd0 && marker <= 0xda)) return undefined;
    const length = bytes.readUInt16BE(at + 2);
    const segment = bytes.subarray(at + 4, at + 2 + length);
    if (length < 2 || segment.length < length - 2) return undefined;
    if (marker === 0xe1 && segment.toString("latin1", 0, 6) === "Exif\0\0")
      orientation = readOrientation(segment.subarray(6));
    if (isFrame(marker)) {
      const [precision = 0, , , , , components = 0] = segment;
      const [height, width] = [bytes.readUInt16BE(at + 5), bytes.readUInt16BE(at + 7)];
      const isValid = [8, 12].includes(precision) && [1, 3, 4].includes(components);
      if (!isValid || segment.length !== 6 + 3 * components || width === 0 || height === 0) return undefined;
      return { type: "image/jpeg", width, height, orientation };
    }
    at += 2 + length;
  }
  return undefined;
};

/**
 * Detects a JPG or PNG by its content, whatever its name or type.
 *
 * @param bytes the beginning of the file: 33 bytes of a PNG, all before the frame of a JPG, which is less than
 *   1 MiB unless there are more than 15 segments of metadata.
 * @returns undefined for anything else.
 */
export const findImageHeader = (bytes: Buffer): ImageHeader | undefined =>
  findPngHeader(bytes) ?? findJpegHeader(bytes);
