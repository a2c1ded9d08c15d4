import { crc32 } from "node:zlib";

/** A chunk of a PNG file with its checksum. */
export const pngChunk = (type: string, content: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type), content]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(content.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc32(body), body.length + 4);
  return out;
};

/** The header chunk of a picture in colour, whatever data follow. */
export const pngHeader = (width: number, height: number, { depth = 8, interlace = 0 } = {}): Buffer => {
  const content = Buffer.from([...Array(8).fill(0), depth, 2, 0, 0, interlace]);
  content.writeUInt32BE(width, 0);
  content.writeUInt32BE(height, 4);
  return pngChunk("IHDR", content);
};

export const pngSignature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
export const pngEnd = pngChunk("IEND", Buffer.alloc(0));
