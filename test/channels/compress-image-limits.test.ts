import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { deflateSync } from "node:zlib";
import sharp from "sharp";
import { expect, onTestFinished, test, vi } from "vitest";
import { compressImage } from "#lib/channels/compress-image.ts";
import {
  pngChunk as chunk,
  pngEnd as end,
  pngHeader as header,
  pngSignature as signature,
} from "../steps/png.ts";
import { photo, picture, pixelsOf } from "./pictures.ts";

/** The logged reasons for unchanged images. */
const reasons = () => {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  onTestFinished(() => write.mockRestore());
  return () => write.mock.calls.map(([line]) => JSON.parse(String(line)).reason);
};

const bomb = chunk("IDAT", deflateSync(Buffer.alloc(200_000_000), { level: 1 }));

/** A progressive JPG whose header claims another size. */
const claiming = async (width: number, height: number) => {
  const jpeg = await picture(40, 40).jpeg({ progressive: true, chromaSubsampling: "4:4:4" }).toBuffer();
  const frame = jpeg.indexOf(Buffer.of(0xff, 0xc2));
  jpeg.writeUInt16BE(height, frame + 5);
  jpeg.writeUInt16BE(width, frame + 7);
  return jpeg;
};
/** A WebP whose header claims another size, of 14 bits each. */
const claimingWebp = async (width: number, height: number) => {
  const webp = await picture(40, 40).webp({ lossless: true }).toBuffer();
  const size = webp.indexOf("VP8L") + 9;
  webp.writeUInt32LE((width - 1) | ((height - 1) << 14), size);
  return webp;
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
  ["is a WebP of too many pixels", await claimingWebp(6_000, 6_000), memory],
  [
    "claims another size later",
    Buffer.concat([signature, header(9, 9), header(60_000, 60_000), bomb]),
    "corrupt header",
  ],
])("returns a file unchanged that %s, and logs why", async (_what, bytes, reason) => {
  const said = reasons();
  const before = process.memoryUsage().rss;
  expect((await compressImage(bytes)) === bytes).toBe(true);
  expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  expect(said()).toEqual([expect.stringContaining(reason)]);
});

test("returns a picture unchanged whose data are cut short", async () => {
  const whole = await photo();
  // with an end marker, which some programs add to incomplete files
  const cut = Buffer.concat([whole.subarray(0, whole.length / 2), Buffer.of(0xff, 0xd9)]);
  const said = reasons();
  expect((await compressImage(cut)) === cut).toBe(true);
  expect(said()).toEqual([expect.stringContaining("premature end")]);
});

test("compresses a picture with damaged colours, which cannot be detected", async () => {
  // the first value of its quantization table, which changes the brightness
  const damaged = await photo();
  const table = damaged.indexOf(Buffer.of(0xff, 0xdb)) + 5;
  damaged[table] = (damaged[table] ?? 0) ^ 0x55;
  const said = reasons();
  const bytes = await compressImage(damaged);
  expect(bytes.length).toBeLessThan(damaged.length);
  expect([await pixelsOf(bytes), said()]).toMatchObject([{ width: 600, height: 400 }, []]);
});

test.each([true, false])("fails for no damaged byte, progressive: %s", async (progressive) => {
  const whole = await picture(96, 64).jpeg({ quality: 98, progressive }).toBuffer();
  const count = { compressed: 0, stayed: 0 };
  const said = reasons();
  for (let at = 2; at < whole.length; at += 31) {
    const damaged = Buffer.from(whole);
    damaged[at] = (damaged[at] ?? 0) ^ 0x55;
    const outcome = (await compressImage(damaged)) === damaged ? "stayed" : "compressed";
    count[outcome] += 1;
  }
  expect(said().length).toBe(count.stayed);
  expect(Math.min(count.stayed, count.compressed)).toBeGreaterThan(5);
});

test("returns a picture unchanged that takes too long, and compresses the next one", async () => {
  // 8 s of work in 350 KB: rows of one pixel
  const rows = chunk("IDAT", deflateSync(Buffer.alloc(20_000_000 * 4), { level: 1 }));
  const slow = Buffer.concat([signature, header(1, 20_000_000), rows, end]);
  const next = await photo();
  const said = reasons();
  const usedBefore = process.cpuUsage();
  expect((await compressImage(slow, { maxMs: 1 })) === slow).toBe(true);
  expect(said()).toEqual(["no answer within 1 ms"]);
  const bytes = await compressImage(next, { maxMs: 60_000 });
  expect(bytes.length).toBeLessThan(next.length);
  expect(process.cpuUsage(usedBefore).user / 1_000_000).toBeLessThan(4);
});

test("compresses one image at a time without blocking the event loop", async () => {
  const image = await photo(1800, 1350);
  let longestMs = 0;
  let mostAtOnce = 0;
  // of processor time: other processes may take the machine for longer
  let last = process.threadCpuUsage();
  const timer = setInterval(() => {
    longestMs = Math.max(longestMs, process.threadCpuUsage(last).user / 1_000);
    last = process.threadCpuUsage();
    const { queue, process: working } = sharp.counters();
    mostAtOnce = Math.max(mostAtOnce, queue + working);
  }, 5);
  await Promise.all([compressImage(image), compressImage(image), compressImage(image)]);
  clearInterval(timer);
  expect(longestMs).toBeLessThan(250);
  expect(mostAtOnce).toBe(1);
});

/** The peak memory that compressing an image adds to a new process. */
const measureMib = async (image: Buffer): Promise<number> => {
  const folder = mkdtempSync(join(tmpdir(), "compress-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "image"), image);
  const program = `
    import { readFileSync } from "node:fs";
    import { readPeakBytes } from ${JSON.stringify(resolve("test/steps/peak-memory.ts"))};
    import { compressImage } from ${JSON.stringify(resolve("lib/channels/compress-image.ts"))};
    const image = readFileSync(${JSON.stringify(join(folder, "image"))});
    const before = readPeakBytes();
    const bytes = await compressImage(image);
    console.log(bytes === image ? "as it was" : (readPeakBytes() - before) / 1024 ** 2);
  `;
  const flags = ["--input-type=module", "--eval", program];
  const { stdout } = await promisify(execFile)(process.execPath, flags);
  return Number(stdout);
};

test("decodes an image of 12 megapixels in at most 80 MiB, a progressive JPG in 130 MiB", async () => {
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
