import { randomBytes } from "node:crypto";
import sharp from "sharp";
import { expect, test, vi } from "vitest";
import { previewImage } from "#lib/channels/preview.ts";
import { photo } from "./pictures.ts";

test("the thumbnail of the noisiest image has less than 10 KB", async () => {
  const raw = { width: 400, height: 400, channels: 3 } as const;
  const noise = await sharp(randomBytes(400 * 400 * 3), { raw })
    .resize({ width: 100, kernel: "nearest" })
    .png()
    .toBuffer();
  const { jpegThumbnail, ...size } = await previewImage(noise);
  expect(size).toEqual({ width: 100, height: 100 });
  expect(jpegThumbnail?.length).toBeGreaterThan(1_000);
  expect(jpegThumbnail?.length).toBeLessThan(10_000);
});

test("an image that takes too long has no thumbnail", async () => {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const image = await photo(3_000, 2_000);
  const size = { width: 3_000, height: 2_000 };
  const preview = await previewImage(image, { maxMs: 1 });
  write.mockRestore();
  expect(preview).toEqual(size);
});
