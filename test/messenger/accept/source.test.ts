import { randomBytes } from "node:crypto";
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

  const octets = "application/octet-stream";
  const pdf = Buffer.from("%PDF-1.7\n");
  const zip = Buffer.from("PK\x03\x04\x14\0\0\0\b\0".padEnd(64, "\0"), "latin1");
  const word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

  test.each<[string, string, string | undefined, string, Buffer, string]>([
    ["the submission says", "text/plain", "application/pdf", "a.bin", png, "text/plain"],
    ["the server says", octets, "application/pdf", "a.bin", png, "application/pdf"],
    ["its content says", octets, octets, "surat.docx", pdf, "application/pdf"],
    ["its content says", octets, "binary/octet-stream", "file", png, "image/png"],
    ["its name says of an archive", octets, undefined, "surat.docx", zip, word],
    ["its name says of text", octets, undefined, "warga.csv", Buffer.from("nik;nama\n"), "text/csv"],
    ["its archive is", octets, undefined, "surat", zip, "application/zip"],
    ["is unknown", octets, undefined, "surat", Buffer.from([1, 2, 3]), octets],
    ["is unknown of an empty file", octets, undefined, "surat", Buffer.alloc(0), octets],
  ])("of a file is what %s", async (_, content_type, served, file_name, bytes, type) => {
    const headers = served === undefined ? {} : { "content-type": served };
    const { contentType, body } = await open("file", headers, bytes, { content_type, file_name });
    expect(contentType).toBe(type);
    expect((await buffer(body)).equals(bytes)).toBe(true);
  });

  test("of a file is detected from its beginning, and the rest follows", async () => {
    const bytes = Buffer.concat([pdf, randomBytes(300_000)]);
    const { contentType, body } = await open("file", {}, bytes);
    expect(contentType).toBe("application/pdf");
    expect((await buffer(body)).equals(bytes)).toBe(true);
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
