import sharp, { type Sharp } from "sharp";

/** Left half red, right half blue, the upper quarter green, with a little noise. */
export const picture = (width: number, height: number): Sharp => {
  const data = Buffer.alloc(width * height * 3);
  for (let p = 0; p < width * height; p++) {
    const rgb = p / width < height / 4 ? 0x00c000 : p % width < width / 2 ? 0xc00000 : 0x0000c0;
    data.writeUIntBE(rgb, p * 3, 3);
    for (let c = 0; c < 3; c++) data[p * 3 + c] = (data[p * 3 + c] ?? 0) + ((p * 7919 + c * 31) % 16);
  }
  return sharp(data, { raw: { width, height, channels: 3 } });
};

/** Noise makes a file large enough to become smaller. */
export const photo = (width = 600, height = 400) => picture(width, height).jpeg({ quality: 98 }).toBuffer();

export const pixelsOf = async (bytes: Buffer) => {
  const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
  /** Red, green and blue at a place, given in parts of the sides. */
  const at = (x: number, y: number): number[] => {
    const start = (Math.floor(y * info.height) * info.width + Math.floor(x * info.width)) * info.channels;
    return [...data.subarray(start, start + 3)];
  };
  return { width: info.width, height: info.height, at };
};
