import { Jimp } from "jimp";
import { expect, test } from "vitest";
import { type BlockSize, decodeJpeg } from "#lib/session/jpeg-decoder.ts";
import { encodeJpeg } from "./jpeg-encoder.ts";

const readAll = (bytes: Buffer, size: BlockSize) => {
  const { width, height, readRow } = decodeJpeg(bytes, size);
  const data = Buffer.alloc(width * height * 3);
  for (let y = 0; y < height; y++) readRow(y, data.subarray(y * width * 3, (y + 1) * width * 3));
  return { width, height, data };
};

/** The largest and the mean difference to what jimp's decoder makes of it. */
const compare = async (bytes: Buffer) => {
  const { bitmap } = await Jimp.fromBuffer(bytes);
  const { width, height, data } = readAll(bytes, 8);
  expect([width, height]).toEqual([bitmap.width, bitmap.height]);
  const differences = data.map((value, i) =>
    Math.abs(value - (bitmap.data[Math.floor(i / 3) * 4 + (i % 3)] ?? 0)),
  );
  return {
    largest: Math.max(...differences),
    mean: differences.reduce((sum, d) => sum + d, 0) / data.length,
  };
};

test.each([
  { h: 1, v: 1, progressive: false },
  { h: 2, v: 1, progressive: false },
  { h: 2, v: 2, progressive: false },
  { h: 1, v: 2, progressive: false, restart: 3 },
  { h: 1, v: 1, progressive: true },
  { h: 2, v: 2, progressive: true },
  { h: 2, v: 1, progressive: true, restart: 4 },
])("decodes what jimp decodes, to within rounding: %o", async (shape) => {
  const { largest, mean } = await compare(encodeJpeg({ width: 83, height: 61, ...shape }));
  expect(largest).toBeLessThanOrEqual(4);
  expect(mean).toBeLessThan(0.5);
});

test.each([4, 2, 1] as const)(
  "decodes at %i eighths of the size, to the mean of the same brightness",
  (size) => {
    const bytes = encodeJpeg({ width: 160, height: 80, h: 2, v: 2, progressive: true });
    const mean = (data: Buffer) => data.reduce((sum, value) => sum + value, 0) / data.length;
    const small = readAll(bytes, size);
    expect([small.width, small.height]).toEqual([(160 * size) / 8, (80 * size) / 8]);
    expect(Math.abs(mean(small.data) - mean(readAll(bytes, 8).data))).toBeLessThan(3);
  },
);

test("fails, and neither hangs nor reads beyond, on a picture that is cut or damaged anywhere", () => {
  const good = encodeJpeg({ width: 40, height: 40, h: 2, v: 2, progressive: true });
  for (let length = 0; length < good.length - 200; length += 37) {
    const cut = good.subarray(0, length);
    expect(() => readAll(cut, 8)).toThrow();
  }
  for (let at = 2; at < good.length; at += 11) {
    const damaged = Buffer.from(good);
    damaged[at] = (damaged[at] ?? 0) ^ 0x55;
    try {
      readAll(damaged, 4);
    } catch (error) {
      expect(error).toBeInstanceOf(Error);
    }
  }
});
