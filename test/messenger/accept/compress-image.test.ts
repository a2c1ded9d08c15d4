import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { crc32, deflateSync } from "node:zlib";
import { build } from "esbuild";
import { Jimp } from "jimp";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { compressImage } from "#lib/messenger/accept/compress-image.ts";

/** Left half red, right half blue, the upper quarter green, with a little noise. */
const picture = (width: number, height: number) => {
  const image = new Jimp({ width, height });
  const { data } = image.bitmap;
  for (let i = 0, p = 0; i < data.length; i += 4, p++) {
    const [x, y] = [p % width, Math.floor(p / width)];
    const rgb = y < height / 4 ? 0x00c000 : x < width / 2 ? 0xc00000 : 0x0000c0;
    data.writeUInt32BE(rgb * 256 + 255, i);
    for (let c = 0; c < 3; c++) data[i + c] = (data[i + c] ?? 0) + ((p * 7919 + c * 31) % 16);
  }
  return image;
};

const chunk = (type: string, content: Buffer) => {
  const body = Buffer.concat([Buffer.from(type), content]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(content.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc32(body), body.length + 4);
  return out;
};
const header = (width: number, height: number, interlace = 0) => {
  const content = Buffer.from([...Array(8).fill(0), 8, 2, 0, 0, interlace]);
  content.writeUInt32BE(width, 0);
  content.writeUInt32BE(height, 4);
  return chunk("IHDR", content);
};
const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
const bomb = chunk("IDAT", deflateSync(Buffer.alloc(200_000_000), { level: 1 }));

const withOrientation = (jpeg: Buffer, orientation: number) => {
  const exif = Buffer.from(
    "\xff\xe1\0\x22Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0?\0\0\0\0\0\0",
    "latin1",
  );
  exif[exif.indexOf("?")] = orientation;
  return Buffer.concat([jpeg.subarray(0, 2), exif, jpeg.subarray(2)]);
};

/** Which of the three colours stands at a place, given in parts of the sides. */
const colourAt = (image: Awaited<ReturnType<typeof Jimp.fromBuffer>>, x: number, y: number) => {
  const at = (Math.floor(y * image.height) * image.width + Math.floor(x * image.width)) * 4;
  const [red = 0, green = 0, blue = 0] = image.bitmap.data.subarray(at, at + 3);
  return red > 120 && green < 90 ? "red" : green > 120 && red < 90 ? "green" : blue > 120 ? "blue" : "?";
};

test("makes a large photograph a JPG of at most 1600 pixels, and smaller", async () => {
  const photo = await picture(1800, 1350).getBuffer("image/jpeg", { quality: 95 });
  const { bytes, type } = await compressImage(photo);
  const small = await Jimp.fromBuffer(bytes);
  expect([type, small.mime, small.width, small.height]).toEqual(["image/jpeg", "image/jpeg", 1600, 1200]);
  expect(bytes.length).toBeLessThan(photo.length / 2);
  expect([colourAt(small, 0.5, 0.1), colourAt(small, 0.2, 0.7), colourAt(small, 0.8, 0.7)]).toEqual([
    "green",
    "red",
    "blue",
  ]);
});

test("keeps the size of a small image, and shows what shines through a PNG on white", async () => {
  const image = picture(300, 200);
  for (let i = 3; i < 300 * 4 * 30; i += 4) image.bitmap.data[i] = 0;
  const { bytes, type } = await compressImage(await image.getBuffer("image/png"));
  const small = await Jimp.fromBuffer(bytes);
  expect([type, small.width, small.height]).toEqual(["image/jpeg", 300, 200]);
  expect(small.getPixelColor(150, 10) >>> 8).toBeGreaterThan(0xf00000);
  expect(colourAt(small, 0.2, 0.7)).toBe("red");
});

test.each([1, 2, 3, 4, 5, 6, 7, 8])("turns a picture of orientation %i as jimp does", async (orientation) => {
  const photo = withOrientation(
    await picture(240, 160).getBuffer("image/jpeg", { quality: 98 }),
    orientation,
  );
  const upright = await Jimp.fromBuffer(photo);
  const { bytes } = await compressImage(photo);
  const small = await Jimp.fromBuffer(bytes);
  expect([small.width, small.height]).toEqual([upright.width, upright.height]);
  const places = [0.1, 0.4, 0.6, 0.9].flatMap((x) => [0.1, 0.4, 0.6, 0.9].map((y) => [x, y] as const));
  expect(places.map(([x, y]) => colourAt(small, x, y))).toEqual(
    places.map(([x, y]) => colourAt(upright, x, y)),
  );
  expect(orientation > 4 ? small.height : small.width).toBe(240);
});

test("gives back what would not get smaller", async () => {
  const photo = await picture(200, 100).getBuffer("image/jpeg", { quality: 10 });
  expect((await compressImage(photo)).bytes === photo).toBe(true);
});

test.each([
  ["is a PNG without content", Buffer.concat([signature, header(50, 50)])],
  [
    "is an interlaced bomb",
    Buffer.concat([signature, header(50, 50, 1), bomb, chunk("IEND", Buffer.alloc(0))]),
  ],
  ["claims another size later", Buffer.concat([signature, header(9, 9), header(60_000, 60_000), bomb])],
  ["is a PNG of more than 9 megapixels", Buffer.concat([signature, header(4000, 3000), bomb])],
])("gives back what %s", async (_what, bytes) => {
  const before = process.memoryUsage().rss;
  expect((await compressImage(bytes)).bytes === bytes).toBe(true);
  expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000);
});

describe("a picture that would get smaller", () => {
  const warnings = () => {
    const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    onTestFinished(() => write.mockRestore());
    return () => write.mock.calls.map(([line]) => JSON.parse(String(line)).reason);
  };
  const make = () => picture(600, 400).getBuffer("image/jpeg", { quality: 98 });

  test("comes back as it went in when its data are cut short, and the log says why", async () => {
    const photo = await make();
    // with the mark of its end, by which some programs close what they did not get
    const cut = Buffer.concat([photo.subarray(0, photo.length / 2), Buffer.of(0xff, 0xd9)]);
    const reasons = warnings();
    expect((await compressImage(cut)).bytes === cut).toBe(true);
    expect(reasons()).toEqual(["the picture ends too early"]);
  });

  test("is compressed although its colours are damaged, where nothing contradicts them", async () => {
    const photo = await make();
    const reasons = warnings();
    // the first number of its quantization: all brightness is wrong
    const damaged = Buffer.from(photo);
    const table = damaged.indexOf(Buffer.of(0xff, 0xdb)) + 5;
    damaged[table] = (damaged[table] ?? 0) ^ 0x55;
    const { bytes } = await compressImage(damaged);
    expect(bytes.length).toBeLessThan(photo.length);
    const { width, height } = await Jimp.fromBuffer(bytes);
    expect([width, height, reasons()]).toEqual([600, 400, []]);
  });
});

test("refuses more than 40 megapixels by the header alone, and what is no JPG or PNG", async () => {
  const startedAt = performance.now();
  const large = Buffer.concat([signature, header(8000, 5001), bomb]);
  await expect(compressImage(large)).rejects.toMatchObject({ status: 400, code: "invalid_request" });
  await expect(compressImage(Buffer.from("GIF89a"))).rejects.toThrow("must be a JPG or PNG");
  expect(performance.now() - startedAt).toBeLessThan(200);
});

test("gives back what takes too long, and ends with the caller's reason when the caller gives up", async () => {
  const photo = await picture(1200, 900).getBuffer("image/jpeg", { quality: 95 });
  expect((await compressImage(photo, { timeoutMs: 1 })).bytes === photo).toBe(true);
  const reason = new Error("the task stops");
  await expect(compressImage(photo, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  const controller = new AbortController();
  setTimeout(() => controller.abort(reason), 30);
  await expect(compressImage(photo, { signal: controller.signal })).rejects.toBe(reason);
});

test("leaves the event loop free", async () => {
  const photo = await picture(1800, 1350).getBuffer("image/jpeg", { quality: 95 });
  let longestMs = 0;
  let lastAt = performance.now();
  const timer = setInterval(() => {
    longestMs = Math.max(longestMs, performance.now() - lastAt);
    lastAt = performance.now();
  }, 5);
  await compressImage(photo);
  clearInterval(timer);
  expect(longestMs).toBeLessThan(250);
});

test("works out of one bundled file, in the memory of a small task", async () => {
  const folder = mkdtempSync(join(tmpdir(), "compress-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const bundle = join(folder, "messenger.mjs");
  await build({
    stdin: {
      contents: `
        import { readFileSync } from "node:fs";
        import { isMainThread } from "node:worker_threads";
        import { compressImage } from "#lib/messenger/accept/compress-image.ts";
        if (isMainThread) {
          const { type, bytes } = await compressImage(readFileSync(process.argv[2]));
          console.log(JSON.stringify({ type, length: bytes.length, peakMib: process.resourceUsage().maxRSS / 1024 }));
        }`,
      resolveDir: process.cwd(),
    },
    ...{ outfile: bundle, bundle: true, platform: "node", target: "node24", format: "esm", minify: true },
    mainFields: ["module", "main"],
    banner: { js: 'import{createRequire as r}from"node:module";const require=r(import.meta.url);' },
  });
  const photo = join(folder, "12-megapixels.jpg");
  writeFileSync(photo, await picture(4000, 3000).getBuffer("image/jpeg", { quality: 85 }));
  const { stdout } = await promisify(execFile)(process.execPath, [bundle, photo]);
  const { type, length, peakMib } = JSON.parse(stdout);
  expect([type, length > 0]).toEqual(["image/jpeg", true]);
  expect(peakMib).toBeLessThan(320);
});
