import { buffer } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { Submission } from "#lib/messaging/submission.ts";
import { openSource } from "#lib/messenger/accept/source.ts";
import { serve } from "../../steps/http-server.ts";
import { loopback } from "../../steps/loopback.ts";
import { pngHeader, pngSignature } from "../../steps/png.ts";

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** Opens the source of a submission whose URL answers this. */
const open = async (
  kind: "image" | "file",
  headers: Record<string, string | number>,
  bytes: Buffer,
  more = {},
) => {
  const url = await serve((_request, response) => void response.writeHead(200, headers).end(bytes));
  const submission = { sender: "api:test", kind, phone: "6281234567890", url: `${url}/a.png`, ...more };
  return openSource(Submission.parse(submission), undefined, loopback);
};

describe("the largest download", () => {
  const mebibytes = (n: number) => n * 1024 * 1024;

  test("of an image is 16 MiB", async () => {
    const bytes = Buffer.concat([png, Buffer.alloc(mebibytes(16) - png.length)]);
    expect((await buffer((await open("image", {}, bytes)).body)).equals(bytes)).toBe(true);
    const more = { "content-length": mebibytes(16) + 1 };
    await expect(open("image", more, png)).rejects.toMatchObject({ status: 413 });
  });

  test("of a file is 50 MiB", async () => {
    const more = { "content-length": mebibytes(50) + 1 };
    await expect(open("file", more, png)).rejects.toMatchObject({ status: 413 });
  });
});

test("an image of more than 40 megapixels is rejected by its header, but only if it is to be compressed", async () => {
  const large = Buffer.concat([pngSignature, pngHeader(8_000, 5_001)]);
  await expect(open("image", {}, large, { compress: true })).rejects.toMatchObject({
    status: 400,
    code: "invalid_request",
  });
  expect((await buffer((await open("image", {}, large)).body)).equals(large)).toBe(true);
});

describe("the type", () => {
  test("of an image is detected from its bytes, whatever the server and the name say", async () => {
    expect((await open("image", { "content-type": "image/jpeg" }, png)).contentType).toBe("image/png");
    const text = open("image", { "content-type": "image/png" }, Buffer.from("no picture".repeat(9)));
    await expect(text).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining("by its content"),
    });
  });

  test("of a file is that of the submission, otherwise that of the server", async () => {
    const served = { "content-type": "application/pdf" };
    expect((await open("file", served, png)).contentType).toBe("application/pdf");
    expect((await open("file", served, png, { content_type: "text/plain" })).contentType).toBe("text/plain");
    expect((await open("file", {}, png)).contentType).toBe("application/octet-stream");
  });
});

describe("the name of a file", () => {
  const hostile = "folder/annex\u202efdp.exe";
  const named = (file_name: string) =>
    openSource(
      Submission.parse({ sender: "api:test", kind: "file", phone: "6281234567890", file_name }),
      png,
    );

  test("has no folder and no mark that turns the direction of writing, uploaded or downloaded", async () => {
    const header = `attachment; filename*=UTF-8''${encodeURIComponent(hostile)}`;
    const downloaded = await open("file", { "content-disposition": header }, png);
    expect([(await named(hostile)).fileName, downloaded.fileName]).toEqual(["annexfdp.exe", "annexfdp.exe"]);
  });

  test("of an upload has at most 200 characters and its ending, or is file when nothing is left of it", async () => {
    expect((await named(`${"x".repeat(251)}.pdf`)).fileName).toBe(`${"x".repeat(196)}.pdf`);
    expect([(await named("")).fileName, (await named("\u200f..")).fileName]).toEqual(["file", "file"]);
  });
});
