import sharp from "sharp";
import { expect, test } from "vitest";
import { findImageHeader } from "#lib/messaging/image-type.ts";

const image = sharp({ create: { width: 30, height: 20, channels: 3, background: "#336699" } });
const png = await image.png().toBuffer();
const jpeg = await image.jpeg().toBuffer();

test("recognises a JPG and a PNG and reads their size", async () => {
  const size = { width: 30, height: 20 };
  expect(findImageHeader(png)).toEqual({ type: "image/png", ...size, isRgb8: true });
  expect(findImageHeader(jpeg)).toEqual({ type: "image/jpeg", ...size, isRgb8: true });
  expect(findImageHeader(await image.jpeg({ progressive: true }).toBuffer())).toEqual({
    type: "image/jpeg",
    ...size,
    isRgb8: true,
  });
});

test("recognises a JPG with bytes between its segments, as decoders do", () => {
  const first = 4 + jpeg.readUInt16BE(4);
  for (const stray of ["\0\0", "abc", "\xff\0", "\xff\xff"]) {
    const parts = [jpeg.subarray(0, first), Buffer.from(stray, "latin1"), jpeg.subarray(first)];
    expect(findImageHeader(Buffer.concat(parts))).toMatchObject({
      type: "image/jpeg",
      width: 30,
      height: 20,
    });
  }
});

test("needs only the beginning", () => {
  expect(findImageHeader(png.subarray(0, 33))?.type).toBe("image/png");
  expect(findImageHeader(jpeg.subarray(0, 400))?.type).toBe("image/jpeg");
});

const changed = (bytes: Buffer, at: number, value: number) => {
  const copy = Buffer.from(bytes);
  copy[at] = value;
  return copy;
};

test.each([
  ["a GIF, whatever its name", await image.gif().toBuffer()],
  ["a BMP", Buffer.from("BM\x3e\0\0\0".padEnd(62, "\0"), "latin1")],
  ["a TIFF", await image.tiff().toBuffer()],
  ["a WebP", Buffer.from("RIFF\x24\0\0\0WEBPVP8 \x18\0\0\0".padEnd(60, "\0"), "latin1")],
  ["an SVG", Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"/>')],
  ["a PDF", Buffer.from("%PDF-1.7\n".padEnd(60, " "))],
  ["HTML", Buffer.from("<!doctype html><title>Not found</title>".padEnd(60, " "))],
  ["nothing", Buffer.alloc(0)],
  ["the first bytes of a PNG alone", png.subarray(0, 20)],
  ["a PNG's signature before something else", Buffer.concat([png.subarray(0, 8), Buffer.alloc(60, 65)])],
  ["a PNG whose header was changed", changed(png, 19, 31)],
  ["the first bytes of a JPG alone", jpeg.subarray(0, 4)],
  ["a JPG's signature before something else", Buffer.concat([jpeg.subarray(0, 3), Buffer.alloc(60, 65)])],
  ["a JPG that ends before its frame", jpeg.subarray(0, 30)],
  ["a JPG with a segment of no length", Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0, ...Array(60).fill(0xff)])],
  ["a JPG that is nothing but fill bytes", Buffer.from([0xff, 0xd8, ...Array(60).fill(0xff)])],
])("rejects %s", (_what, bytes) => {
  expect(findImageHeader(bytes)).toBeUndefined();
});
