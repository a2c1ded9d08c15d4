import { Jimp } from "jimp";
import { describe, expect, test } from "vitest";
import { type BlockSize, decodeJpeg } from "#lib/messenger/accept/jpeg-decoder.ts";
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

const progressive = encodeJpeg({ width: 40, height: 40, h: 2, v: 2, progressive: true });
const baseline = encodeJpeg({ width: 40, height: 40, h: 2, v: 2, progressive: false, restart: 3 });

/** The picture with one byte replaced, counted from its first such marker: 1 is the marker itself. */
const changed = (bytes: Buffer, marker: number, at: number, value: number): Buffer => {
  const copy = Buffer.from(bytes);
  copy[copy.indexOf(Buffer.of(0xff, marker)) + at] = value;
  return copy;
};
/** The picture with all from one marker to another repeated. */
const repeated = (bytes: Buffer, marker: number, end: number, times: number): Buffer => {
  const [from, to] = [marker, end].map((one) => bytes.indexOf(Buffer.of(0xff, one)));
  return Buffer.concat([
    bytes.subarray(0, to),
    ...Array(times).fill(bytes.subarray(from, to)),
    bytes.subarray(to),
  ]);
};
const comment = 0xfe;

describe("fails on a picture", () => {
  test.each([
    ["without its quantization", changed(progressive, 0xdb, 1, comment), "a quantization table is missing"],
    ["without a Huffman table", changed(progressive, 0xc4, 1, comment), "no such Huffman code"],
    [
      "with three Huffman codes of one bit",
      changed(progressive, 0xc4, 5, 3),
      "the Huffman table is overfull",
    ],
    ["without its frame", changed(progressive, 0xc2, 1, comment), "a scan before the frame"],
    ["with two frames", repeated(progressive, 0xc2, 0xda, 1), "more than one frame"],
    ["of 12 bits", changed(progressive, 0xc2, 4, 12), "not 8 bits of grey or three colours"],
    ["of four colours", changed(progressive, 0xc2, 9, 4), "not 8 bits of grey or three colours"],
    ["of arithmetic coding", changed(progressive, 0xc2, 1, 0xca), "not baseline and not progressive"],
    ["that is sampled 5 times", changed(progressive, 0xc2, 11, 0x52), "no such sampling"],
    ["that is far too high", changed(changed(progressive, 0xc2, 5, 0xff), 0xc2, 7, 0xff), "too much memory"],
    ["whose scan names no colour of it", changed(progressive, 0xda, 5, 9), "a colour that is not there"],
    ["whose scan goes beyond a block", changed(baseline, 0xda, 12, 64), "no such scan"],
    ["without a restart marker", changed(baseline, 0xd0, 1, 0), "a restart marker is missing"],
    ["of 101 scans", repeated(baseline, 0xda, 0xd9, 100), "too many scans"],
    ["without its end", progressive.subarray(0, -2), "the picture is cut short"],
    ["cut within its last scan", progressive.subarray(0, -20), "the picture ends too early"],
  ])("%s", (_what, bytes, message) => expect(() => readAll(bytes, 8)).toThrow(message));

  test("that is cut anywhere", () => {
    for (const good of [progressive, baseline])
      for (let length = 0; length < good.length; length += 37)
        expect(() => readAll(good.subarray(0, length), 8)).toThrow();
  });
});

/** What the decoder makes of a picture: its size, or the name of the error. */
const outcomeOf = (bytes: Buffer): string => {
  try {
    const { width, height, data } = readAll(bytes, 8);
    return data.length === width * height * 3 ? `${width}x${height}` : "incomplete";
  } catch (error) {
    return (error as Error).name;
  }
};

// it cannot tell wrong colours from right ones
test.each([
  ["progressive", progressive, 0xc2],
  ["baseline", baseline, 0xc0],
])(
  "decodes a %s picture with one damaged byte to the size in its header, or fails",
  (_kind, good, marker) => {
    const frame = good.indexOf(Buffer.of(0xff, marker));
    const outcomes = { shown: 0, failed: 0 };
    for (let at = 2; at < good.length; at += 11) {
      const damaged = Buffer.from(good);
      damaged[at] = (damaged[at] ?? 0) ^ 0x55;
      const size = `${damaged.readUInt16BE(frame + 7)}x${damaged.readUInt16BE(frame + 5)}`;
      const outcome = outcomeOf(damaged);
      expect([size, "Error", "RangeError"]).toContain(outcome);
      outcomes[outcome === size ? "shown" : "failed"] += 1;
    }
    expect(outcomes.shown).toBeGreaterThan(100);
    expect(outcomes.failed).toBeGreaterThan(5);
  },
);
