import sharp, { type Sharp } from "sharp";
import { describe, expect, test, vi } from "vitest";
import { compressImage, inTurn } from "#lib/channels/compress-image.ts";
import { photo, picture, pixelsOf } from "./pictures.ts";

const plain = (red: number, green: number, blue: number): Sharp =>
  sharp({ create: { width: 300, height: 200, channels: 3, background: { r: red, g: green, b: blue } } });
const nameOf = ([red = 0, green = 0, blue = 0]: number[]) =>
  red > 120 && green < 90 ? "red" : green > 120 && red < 90 ? "green" : blue > 120 ? "blue" : "?";

test("makes of a large photograph a smaller JPG of at most 1600 pixels", async () => {
  const large = await photo(1800, 1350);
  const bytes = await compressImage(large);
  const { width, height, at } = await pixelsOf(bytes);
  expect([(await sharp(bytes).metadata()).format, width, height]).toEqual(["jpeg", 1600, 1200]);
  expect(bytes.length).toBeLessThan(large.length / 2);
  expect([at(0.5, 0.1), at(0.2, 0.7), at(0.8, 0.7)].map(nameOf)).toEqual(["green", "red", "blue"]);
});

test("keeps the dimensions of a small image, and shows a transparent PNG on white", async () => {
  const raw = { width: 300, height: 200, channels: 4 } as const;
  const data = await picture(300, 200).ensureAlpha().raw().toBuffer();
  for (let i = 3; i < 300 * 4 * 30; i += 4) data[i] = 0;
  const bytes = await compressImage(await sharp(data, { raw }).png({ compressionLevel: 0 }).toBuffer());
  const { width, height, at } = await pixelsOf(bytes);
  expect([(await sharp(bytes).metadata()).format, width, height]).toEqual(["jpeg", 300, 200]);
  expect(Math.min(...at(0.5, 0.05))).toBeGreaterThan(245);
  expect(nameOf(at(0.2, 0.7))).toBe("red");
});

/** How each orientation (CIPA DC-008, table 6) stores an upright picture. */
const storedAs: Record<number, (image: Sharp) => Sharp> = {
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
  const turned = await (storedAs[orientation]?.(picture(240, 160)) ?? expect.fail()).png().toBuffer();
  const stored = await sharp(turned).withMetadata({ orientation }).jpeg({ quality: 98 }).toBuffer();
  const { width, height, at } = await pixelsOf(await compressImage(stored));
  expect([width, height]).toEqual([240, 160]);
  expect([at(0.1, 0.1), at(0.9, 0.1), at(0.1, 0.9), at(0.9, 0.9)].map(nameOf)).toEqual([
    ...["green", "green", "red", "blue"],
  ]);
});

test("leaves out metadata such as the location", async () => {
  const image = picture(600, 400).withIccProfile("p3").withXmp("<x:xmpmeta>Balai Kota</x:xmpmeta>");
  const stored = await image
    .withExif({ IFD0: { Artist: "Warga" }, IFD3: { GPSLatitudeRef: "S", GPSLatitude: "7/1 15/1 0/1" } })
    .jpeg({ quality: 98 })
    .toBuffer();
  const before = await sharp(stored).metadata();
  expect([before.exif, before.xmp, before.icc].map((part) => part !== undefined)).toEqual([true, true, true]);
  const { exif, xmp, icc, iptc, ...after } = await sharp(await compressImage(stored)).metadata();
  expect({ exif, xmp, icc, iptc, hasProfile: after.hasProfile }).toEqual({ hasProfile: false });
});

describe("converts to sRGB", () => {
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
    // CMYK cannot represent this orange
    [
      "a JPG in CMYK",
      plain(...colour)
        .toColourspace("cmyk")
        .jpeg({ quality: 100 }),
      40,
    ],
  ])("%s", async (_what, image, tolerance) => {
    // padding after the end of the image, so that compressing makes it smaller
    const stored = Buffer.concat([await image.toBuffer(), Buffer.alloc(20_000)]);
    const bytes = await compressImage(stored);
    expect((await sharp(bytes).metadata()).space).toBe("srgb");
    const shown = (await pixelsOf(bytes)).at(0.5, 0.5);
    const differences = colour.map((value, i) => Math.abs(value - (shown[i] ?? 0)));
    expect(Math.max(...differences)).toBeLessThanOrEqual(tolerance);
  });
});

test("returns an image unchanged that would not get smaller", async () => {
  const small = await picture(200, 100).jpeg({ quality: 10 }).toBuffer();
  expect((await compressImage(small)) === small).toBe(true);
});

test("neither waits for an image that nobody needs any more, nor decodes it", async () => {
  const signal = AbortSignal.abort(new Error("not needed"));
  const decode = vi.fn(async () => Buffer.from("decoded"));
  await expect(inTurn(decode, { signal })).rejects.toThrow("not needed");
  await inTurn(async () => Buffer.from("the next one"), {});
  expect(decode).not.toHaveBeenCalled();
});
