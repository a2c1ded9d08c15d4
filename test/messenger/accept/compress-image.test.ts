import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { crc32, deflateSync } from "node:zlib";
import sharp, { type Sharp } from "sharp";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { compressImage } from "#lib/messenger/accept/compress-image.ts";

/** Left half red, right half blue, the upper quarter green, with a little noise. */
const picture = (width: number, height: number): Sharp => {
  const data = Buffer.alloc(width * height * 3);
  for (let p = 0; p < width * height; p++) {
    const rgb = p / width < height / 4 ? 0x00c000 : p % width < width / 2 ? 0xc00000 : 0x0000c0;
    data.writeUIntBE(rgb, p * 3, 3);
    for (let c = 0; c < 3; c++) data[p * 3 + c] = (data[p * 3 + c] ?? 0) + ((p * 7919 + c * 31) % 16);
  }
  return sharp(data, { raw: { width, height, channels: 3 } });
};
const plain = (red: number, green: number, blue: number): Sharp =>
  sharp({ create: { width: 300, height: 200, channels: 3, background: { r: red, g: green, b: blue } } });
/** Noise makes a file large enough to become smaller. */
const photo = (width = 600, height = 400) => picture(width, height).jpeg({ quality: 98 }).toBuffer();

const pixelsOf = async (bytes: Buffer) => {
  const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
  /** Red, green and blue at a place, given in parts of the sides. */
  const at = (x: number, y: number): number[] => {
    const start = (Math.floor(y * info.height) * info.width + Math.floor(x * info.width)) * info.channels;
    return [...data.subarray(start, start + 3)];
  };
  return { width: info.width, height: info.height, at };
};
const nameOf = ([red = 0, green = 0, blue = 0]: number[]) =>
  red > 120 && green < 90 ? "red" : green > 120 && red < 90 ? "green" : blue > 120 ? "blue" : "?";

/** What the log says of images that stay as they are. */
const reasons = () => {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  onTestFinished(() => write.mockRestore());
  return () => write.mock.calls.map(([line]) => JSON.parse(String(line)).reason);
};

const chunk = (type: string, content: Buffer) => {
  const body = Buffer.concat([Buffer.from(type), content]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(content.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc32(body), body.length + 4);
  return out;
};
const header = (width: number, height: number, { depth = 8, interlace = 0 } = {}) => {
  const content = Buffer.from([...Array(8).fill(0), depth, 2, 0, 0, interlace]);
  content.writeUInt32BE(width, 0);
  content.writeUInt32BE(height, 4);
  return chunk("IHDR", content);
};
const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
const end = chunk("IEND", Buffer.alloc(0));
const bomb = chunk("IDAT", deflateSync(Buffer.alloc(200_000_000), { level: 1 }));

test("makes a large photograph a JPG of at most 1600 pixels, and smaller", async () => {
  const large = await photo(1800, 1350);
  const { bytes, type } = await compressImage(large);
  const { width, height, at } = await pixelsOf(bytes);
  expect([type, (await sharp(bytes).metadata()).format, width, height]).toEqual([
    ...["image/jpeg", "jpeg", 1600, 1200],
  ]);
  expect(bytes.length).toBeLessThan(large.length / 2);
  expect([at(0.5, 0.1), at(0.2, 0.7), at(0.8, 0.7)].map(nameOf)).toEqual(["green", "red", "blue"]);
});

test("keeps the size of a small image, and shows what shines through a PNG on white", async () => {
  const raw = { width: 300, height: 200, channels: 4 } as const;
  const data = await picture(300, 200).ensureAlpha().raw().toBuffer();
  for (let i = 3; i < 300 * 4 * 30; i += 4) data[i] = 0;
  const { bytes, type } = await compressImage(
    await sharp(data, { raw }).png({ compressionLevel: 0 }).toBuffer(),
  );
  const { width, height, at } = await pixelsOf(bytes);
  expect([type, width, height]).toEqual(["image/jpeg", 300, 200]);
  expect(Math.min(...at(0.5, 0.05))).toBeGreaterThan(245);
  expect(nameOf(at(0.2, 0.7))).toBe("red");
});

/** How a picture lies in its file so that each orientation (CIPA DC-008, table 6) shows it upright. */
const lying: Record<number, (image: Sharp) => Sharp> = {
  1: (image) => image,
  2: (image) => image.flop(),
  3: (image) => image.rotate(180),
  4: (image) => image.flip(),
  5: (image) => image.rotate(90).flip(),
  6: (image) => image.rotate(270),
  7: (image) => image.rotate(270).flip(),
  8: (image) => image.rotate(90),
};

test.each([1, 2, 3, 4, 5, 6, 7, 8])("turns a picture of orientation %i upright", async (orientation) => {
  const turned = await (lying[orientation]?.(picture(240, 160)) ?? expect.fail()).png().toBuffer();
  const stored = await sharp(turned).withMetadata({ orientation }).jpeg({ quality: 98 }).toBuffer();
  const { width, height, at } = await pixelsOf((await compressImage(stored)).bytes);
  expect([width, height]).toEqual([240, 160]);
  expect([at(0.1, 0.1), at(0.9, 0.1), at(0.1, 0.9), at(0.9, 0.9)].map(nameOf)).toEqual([
    ...["green", "green", "red", "blue"],
  ]);
});

test("leaves out what the file tells beside the picture, such as the place where it was taken", async () => {
  const image = picture(600, 400).withIccProfile("p3").withXmp("<x:xmpmeta>Balai Kota</x:xmpmeta>");
  const stored = await image
    .withExif({ IFD0: { Artist: "Warga" }, IFD3: { GPSLatitudeRef: "S", GPSLatitude: "7/1 15/1 0/1" } })
    .jpeg({ quality: 98 })
    .toBuffer();
  const before = await sharp(stored).metadata();
  expect([before.exif, before.xmp, before.icc].map((part) => part !== undefined)).toEqual([true, true, true]);
  const { exif, xmp, icc, iptc, ...after } = await sharp((await compressImage(stored)).bytes).metadata();
  expect({ exif, xmp, icc, iptc, hasProfile: after.hasProfile }).toEqual({ hasProfile: false });
});

describe("shows in sRGB the colours of", () => {
  const colour = [200, 80, 40] as const;
  test.each([
    [
      "a JPG in Display P3",
      plain(...colour)
        .withIccProfile("p3")
        .jpeg({ quality: 100 }),
      5,
    ],
    [
      "a PNG in Display P3",
      plain(...colour)
        .withIccProfile("p3")
        .png(),
      5,
    ],
    [
      "a PNG of 16 bits",
      plain(...colour)
        .toColourspace("rgb16")
        .png(),
      5,
    ],
    [
      "a PNG of 16 bits in Display P3",
      plain(...colour)
        .toColourspace("rgb16")
        .withIccProfile("p3")
        .png(),
      5,
    ],
    ["an interlaced PNG", plain(...colour).png({ progressive: true }), 5],
    ["a PNG with a palette", plain(...colour).png({ palette: true }), 5],
    ["a progressive JPG", plain(...colour).jpeg({ quality: 100, progressive: true }), 5],
    // ink has no such orange
    [
      "a JPG in CMYK",
      plain(...colour)
        .toColourspace("cmyk")
        .jpeg({ quality: 100 }),
      40,
    ],
  ])("%s", async (_what, image, tolerance) => {
    // after the end of the image, so that it gets smaller
    const stored = Buffer.concat([await image.toBuffer(), Buffer.alloc(20_000)]);
    const { bytes } = await compressImage(stored);
    expect((await sharp(bytes).metadata()).space).toBe("srgb");
    const shown = (await pixelsOf(bytes)).at(0.5, 0.5);
    const differences = colour.map((value, i) => Math.abs(value - (shown[i] ?? 0)));
    expect(Math.max(...differences)).toBeLessThanOrEqual(tolerance);
  });
});

test("gives back what would not get smaller", async () => {
  const small = await picture(200, 100).jpeg({ quality: 10 }).toBuffer();
  expect((await compressImage(small)).bytes === small).toBe(true);
});

/** A progressive JPG whose header claims another size. */
const claiming = async (width: number, height: number) => {
  const jpeg = await picture(40, 40).jpeg({ progressive: true, chromaSubsampling: "4:4:4" }).toBuffer();
  const frame = jpeg.indexOf(Buffer.of(0xff, 0xc2));
  jpeg.writeUInt16BE(height, frame + 5);
  jpeg.writeUInt16BE(width, frame + 7);
  return jpeg;
};
const memory = "decoding takes too much memory";

test.each([
  ["is a PNG without content", Buffer.concat([signature, header(50, 50)]), "corrupt header"],
  [
    "is an interlaced bomb",
    Buffer.concat([signature, header(5_000, 5_000, { depth: 16, interlace: 1 }), bomb, end]),
    memory,
  ],
  ["is a PNG of very wide rows", Buffer.concat([signature, header(16_385, 100), bomb, end]), memory],
  ["is a progressive JPG of too many colours", await claiming(5_000, 5_000), memory],
  [
    "claims another size later",
    Buffer.concat([signature, header(9, 9), header(60_000, 60_000), bomb]),
    "corrupt header",
  ],
])("gives back what %s, and the log says why", async (_what, bytes, reason) => {
  const said = reasons();
  const before = process.memoryUsage().rss;
  expect((await compressImage(bytes)).bytes === bytes).toBe(true);
  expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  expect(said()).toEqual([expect.stringContaining(reason)]);
});

test("gives back a picture whose data are cut short", async () => {
  const whole = await photo();
  // with the mark of its end, by which some programs close what they did not get
  const cut = Buffer.concat([whole.subarray(0, whole.length / 2), Buffer.of(0xff, 0xd9)]);
  const said = reasons();
  expect((await compressImage(cut)).bytes === cut).toBe(true);
  expect(said()).toEqual([expect.stringContaining("premature end")]);
});

test("compresses a picture whose colours are damaged, where nothing contradicts them", async () => {
  // the first number of its quantization: all brightness is wrong
  const damaged = await photo();
  const table = damaged.indexOf(Buffer.of(0xff, 0xdb)) + 5;
  damaged[table] = (damaged[table] ?? 0) ^ 0x55;
  const said = reasons();
  const { bytes } = await compressImage(damaged);
  expect(bytes.length).toBeLessThan(damaged.length);
  expect([await pixelsOf(bytes), said()]).toMatchObject([{ width: 600, height: 400 }, []]);
});

test.each([true, false])(
  "fails for no damaged byte but by the header, progressive: %s",
  async (progressive) => {
    const whole = await picture(96, 64).jpeg({ quality: 98, progressive }).toBuffer();
    const count = { compressed: 0, stayed: 0, 400: 0 };
    const said = reasons();
    for (let at = 2; at < whole.length; at += 31) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] ?? 0) ^ 0x55;
      const outcome = await compressImage(damaged).then(
        ({ bytes }) => (bytes === damaged ? "stayed" : "compressed"),
        ({ status }: { status: 400 }) => status,
      );
      count[outcome] += 1;
    }
    expect(said().length).toBe(count.stayed);
    expect(Math.min(count.stayed, count.compressed)).toBeGreaterThan(5);
  },
);

test("refuses more than 40 megapixels by the header alone, and what is no JPG or PNG", async () => {
  const startedAt = performance.now();
  const large = Buffer.concat([signature, header(8000, 5001), bomb]);
  await expect(compressImage(large)).rejects.toMatchObject({ status: 400, code: "invalid_request" });
  await expect(compressImage(Buffer.from("GIF89a"))).rejects.toThrow("must be a JPG or PNG");
  expect(performance.now() - startedAt).toBeLessThan(200);
});

test("gives back what takes too long, which does not hold up the next one", async () => {
  // 8 s of work in 350 KB: rows of one pixel
  const rows = chunk("IDAT", deflateSync(Buffer.alloc(20_000_000 * 4), { level: 1 }));
  const slow = Buffer.concat([signature, header(1, 20_000_000), rows, end]);
  const next = await photo();
  const said = reasons();
  const usedBefore = process.cpuUsage();
  expect((await compressImage(slow, 1)).bytes === slow).toBe(true);
  expect(said()).toEqual(["no answer within 1 ms"]);
  expect((await compressImage(next)).bytes.length).toBeLessThan(next.length);
  expect(process.cpuUsage(usedBefore).user / 1_000_000).toBeLessThan(4);
});

test("works on one image at a time, and leaves the event loop free", async () => {
  const image = await photo(1800, 1350);
  let longestMs = 0;
  let mostAtOnce = 0;
  let lastAt = performance.now();
  const timer = setInterval(() => {
    longestMs = Math.max(longestMs, performance.now() - lastAt);
    lastAt = performance.now();
    const { queue, process: working } = sharp.counters();
    mostAtOnce = Math.max(mostAtOnce, queue + working);
  }, 5);
  await Promise.all([compressImage(image), compressImage(image), compressImage(image)]);
  clearInterval(timer);
  expect(longestMs).toBeLessThan(250);
  expect(mostAtOnce).toBe(1);
});

/** What compressing an image adds to a process of its own, at its peak. */
const measureMib = async (image: Buffer): Promise<number> => {
  const folder = mkdtempSync(join(tmpdir(), "compress-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "image"), image);
  const program = `
    import { readFileSync } from "node:fs";
    import { compressImage } from ${JSON.stringify(resolve("lib/messenger/accept/compress-image.ts"))};
    const image = readFileSync(${JSON.stringify(join(folder, "image"))});
    const before = process.resourceUsage().maxRSS;
    const { bytes } = await compressImage(image);
    console.log(bytes === image ? "as it was" : (process.resourceUsage().maxRSS - before) / 1024);
  `;
  const flags = ["--input-type=module", "--eval", program];
  const { stdout } = await promisify(execFile)(process.execPath, flags);
  return Number(stdout);
};

test("decodes an image of 12 megapixels in little memory", async () => {
  const [width, height] = [4000, 3000];
  const tile = await picture(500, 500).raw().toBuffer();
  const rows = Array.from({ length: height }, (_, y) =>
    tile.subarray((y % 500) * 1500, (y % 500) * 1500 + 1500),
  );
  const large = sharp(Buffer.concat(rows.flatMap((row) => Array(8).fill(row))), {
    raw: { width, height, channels: 3 },
  });
  expect(await measureMib(await large.clone().png({ compressionLevel: 1 }).toBuffer())).toBeLessThan(80);
  // 69 MiB of coefficients
  const progressive = { progressive: true, chromaSubsampling: "4:4:4" };
  expect(await measureMib(await large.clone().jpeg(progressive).toBuffer())).toBeLessThan(130);
});
