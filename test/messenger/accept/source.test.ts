import { randomBytes } from "node:crypto";
import { buffer } from "node:stream/consumers";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { convertImage } from "#lib/channels/compress-image.ts";
import { Submission } from "#lib/messaging/submission.ts";
import { openSource } from "#lib/messenger/accept/source.ts";
import { picture } from "../../channels/pictures.ts";
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
  return openSource(Submission.parse(submission), undefined, loopback, convertImage);
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

describe("a WebP image", () => {
  const still = () => picture(400, 200).withIccProfile("p3").withMetadata({ orientation: 6 });
  const animation = async () => {
    const frames = [picture(400, 200), picture(400, 200).negate()].map((frame) => frame.png().toBuffer());
    return sharp(await Promise.all(frames), { join: { animated: true } })
      .webp()
      .toBuffer();
  };
  test.each<[string, Promise<Buffer>, number[]]>([
    ["lossy", picture(400, 200).webp().toBuffer(), [400, 200]],
    [
      "lossless, with alpha",
      picture(400, 200).ensureAlpha(0.9).webp({ lossless: true }).toBuffer(),
      [400, 200],
    ],
    ["turned, in Display P3", still().webp().toBuffer(), [200, 400]],
    ["animated", animation(), [400, 200]],
  ])("at a URL becomes a JPG: %s", async (_, image, size) => {
    const { contentType, body } = await open("image", { "content-type": "image/webp" }, await image);
    const { format, space, width, height, exif } = await sharp(await buffer(body)).metadata();
    expect([contentType, format, space, [width, height], exif]).toEqual([
      ...["image/jpeg", "jpeg", "srgb", size, undefined],
    ]);
  });

  test("that is damaged is 400, and an uploaded one as well", async () => {
    const image = await picture(400, 200).webp().toBuffer();
    await expect(open("image", {}, image.subarray(0, 300))).rejects.toMatchObject({
      ...{ status: 400, message: expect.stringContaining("WebP") },
    });
    const submission = Submission.parse({ sender: "api:test", kind: "image", phone: "6281234567890" });
    await expect(openSource(submission, image, undefined, convertImage)).rejects.toMatchObject({
      ...{ status: 400, message: expect.stringContaining("JPG or PNG") },
    });
  });
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
    ["its content says, not PHP's default type", octets, "text/html", "cetak.pdf", pdf, "application/pdf"],
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

  test("of an upload has at most 200 characters and its ending, or is file and its type when nothing is left", async () => {
    expect((await named(`${"x".repeat(251)}.pdf`)).fileName).toBe(`${"x".repeat(196)}.pdf`);
    expect([(await named("")).fileName, (await named("\u200f..")).fileName]).toEqual([
      ...["file.png", "file.png"],
    ]);
  });

  test.each([
    ["cetak.php", "cetak.png"],
    ["Report.aspx", "Report.png"],
    ["export", "export.png"],
    ["gettablefileurl", "gettablefileurl.png"],
    ["Surat No. 12", "Surat No. 12.png"],
    ["a.pdf.do", "a.pdf.png"],
    ["laporan.parquet", "laporan.parquet"],
    ["surat.pdf", "surat.pdf"],
    ["=?utf-8?B?U3VyYXQgS2V0ZXJhbmdhbi5wZGY=?=", "Surat Keterangan.pdf"],
    ["=?UTF-8?Q?Surat_=E2=80=93_1.pdf?=", "Surat – 1.pdf"],
    ["=?utf-8?B?U3VyYXQg?= =?utf-8?B?MS5wZGY=?=", "Surat 1.pdf"],
    ["=?x-y?B?U3VyYXQ=?=.pdf", "=?x-y?B?U3VyYXQ=?=.pdf"],
    ["Surat%20Edaran.pdf", "Surat Edaran.pdf"],
    ["100%.pdf", "100%.pdf"],
    ["'surat.pdf'", "surat.pdf"],
    ["UTF-8''surat%20a.pdf", "surat a.pdf"],
    ["..%2F..%2Fsurat.pdf", "surat.pdf"],
  ])("of an upload or a header %s is %s", async (given, name) => {
    const header = { "content-disposition": `attachment; filename="${given}"` };
    expect([(await named(given)).fileName, (await open("file", header, png)).fileName]).toEqual([name, name]);
  });
});

describe("what a server answers in place of the file", () => {
  const page = "<!DOCTYPE html><title>Masuk</title>";
  const failure = '{"error": "not found"}';
  const openAt = async (
    path: string,
    type: string | undefined,
    text: string,
    kind = "file",
    name?: string,
  ) => {
    const headers = {
      ...(type && { "content-type": type }),
      ...(name && { "content-disposition": `inline; filename=${name}` }),
    };
    const url = await serve((_request, response) => void response.writeHead(200, headers).end(text));
    const submission = { sender: "api:test", kind, phone: "6281234567890", url: `${url}${path}` };
    return openSource(Submission.parse(submission), undefined, loopback, convertImage);
  };

  test.each<[string, string, string | undefined, string, string, string?]>([
    ["a web page", "/a.pdf", "text/html; charset=utf-8", page, "a web page"],
    ["a web page without a type", "/a.pdf", undefined, `\ufeff\n${page}`, "a web page"],
    ["a web page that is called a PDF", "/a.pdf", "application/pdf", page, "a web page"],
    ["a web page at a script", "/cetak.php", "text/html", page, "a web page"],
    ["a web page at a path without a name", "/", "text/html", page, "a web page"],
    ["a web page whose header names a PDF", "/a.html", "text/html", page, "a web page", "a.pdf"],
    ["an error of a few words", "/a.pdf", "text/html", "Not found", "a web page"],
    ["XHTML", "/a.docx", "application/xhtml+xml", `<?xml version="1.0"?>${page}`, "a web page"],
    ["JSON", "/a.pdf", "application/json", failure, "JSON"],
    ["a problem", "/download", "application/problem+json", failure, "JSON"],
    ["JSON without a type", "/a.pdf", undefined, failure, "JSON"],
    ["nothing", "/a.pdf", "application/pdf", "", "empty"],
  ])("is 400 with the cause: %s", async (_, path, type, text, cause, name) => {
    const expected = { status: 400, message: expect.stringContaining(cause) };
    await expect(openAt(path, type, text, "file", name)).rejects.toMatchObject(expected);
  });

  test.each([
    ["a web page", "/a.html", "text/html", page, "a web page"],
    ["JSON", "/a.jpg", "application/json", failure, "JSON"],
    ["nothing", "/a.jpg", "image/jpeg", "", "empty"],
  ])("is 400 with the cause for an image, whatever its name: %s", async (_, path, type, text, cause) => {
    const expected = { status: 400, message: expect.stringContaining(cause) };
    await expect(openAt(path, type, text, "image")).rejects.toMatchObject(expected);
  });

  test.each([
    ["a page that is named so", "/a.html", "text/html", page],
    ["JSON that is named so", "/a.json", "application/json", failure],
    ["a map", "/a.geojson", undefined, failure],
    [
      "a sheet that a program wrote as a page",
      "/a.xls",
      "application/vnd.ms-excel",
      "<html><table><tr><td>1</table>",
    ],
    ["text with PHP's default type", "/warga.csv", "text/html", "nik;nama\n"],
    ["a drawing", "/a.svg", "image/svg+xml", '<!-- a --><svg xmlns="http://www.w3.org/2000/svg"/>'],
  ])("is not %s", async (_, path, type, text) => {
    expect((await buffer((await openAt(path, type, text)).body)).toString()).toBe(text);
  });

  test("is 400 for an empty upload", async () => {
    const submission = Submission.parse({ sender: "api:test", kind: "file", phone: "6281234567890" });
    await expect(openSource(submission, Buffer.alloc(0))).rejects.toMatchObject({ status: 400 });
  });
});
