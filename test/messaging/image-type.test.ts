import { Jimp } from "jimp";
import { expect, test } from "vitest";
import { findImageHeader } from "#lib/messaging/image-type.ts";
import { encodeJpeg } from "../messenger/accept/jpeg-encoder.ts";

const image = new Jimp({ width: 30, height: 20, color: 0x336699ff });
const png = await image.getBuffer("image/png");
const jpeg = await image.getBuffer("image/jpeg");

test("detects a JPG and a PNG and reads their size", () => {
  const size = { width: 30, height: 20, orientation: 1 };
  expect(findImageHeader(png)).toEqual({ type: "image/png", ...size });
  expect(findImageHeader(jpeg)).toEqual({ type: "image/jpeg", ...size });
  const progressive = encodeJpeg({ width: 41, height: 7, h: 2, v: 2, progressive: true });
  expect(findImageHeader(progressive)).toMatchObject({ type: "image/jpeg", width: 41, height: 7 });
});

test("needs only the beginning of the file", () => {
  expect(findImageHeader(png.subarray(0, 33))?.type).toBe("image/png");
  expect(findImageHeader(jpeg.subarray(0, 400))?.type).toBe("image/jpeg");
});

const changed = (bytes: Buffer, at: number, value: number) => {
  const copy = Buffer.from(bytes);
  copy[at] = value;
  return copy;
};

test.each([
  ["a GIF, whatever its name", await image.getBuffer("image/gif")],
  ["a BMP", await image.getBuffer("image/bmp")],
  ["a TIFF", await image.getBuffer("image/tiff")],
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
  [
    "a JPG with a segment without length",
    Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0, ...Array(60).fill(0xff)]),
  ],
  ["a JPG of fill bytes only", Buffer.from([0xff, 0xd8, ...Array(60).fill(0xff)])],
])("does not detect %s as an image", (_what, bytes) => {
  expect(findImageHeader(bytes)).toBeUndefined();
});
