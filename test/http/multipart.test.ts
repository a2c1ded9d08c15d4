import { describe, expect, test } from "vitest";
import { boundary, field, file, outcome, parse, type WrittenPart, write } from "../steps/multipart.ts";

const invalid = "400 invalid_request";
const tooLarge = "413 payload_too_large";
const badBoundary = "500 bad_boundary";
const end = `--${boundary}--\r\n`;
const text = (...parts: WrittenPart[]) => write(parts).toString();

describe("a form", () => {
  test("returns fields as text and files as bytes with name and type", async () =>
    expect(await parse(write([field("phone", "628123"), file("image", "a.png", "DATA")]))).toEqual({
      fields: { phone: "628123" },
      files: { image: { content: Buffer.from("DATA"), fileName: "a.png", contentType: "image/png" } },
    }));

  test("is the same as text and in base64", async () => {
    const body = write([field("caption", "perché €"), file("file", "perché €.txt", "D")]);
    expect(await parse(body.toString())).toEqual(await parse(body));
    expect((await parse(body)).files.file?.fileName).toBe("perché €.txt");
  });

  test("without parts has no fields and files", async () =>
    expect(await parse(end)).toEqual({ fields: {}, files: {} }));

  test("may have text before the first boundary and after the last", async () => {
    const body = `pre\r\n--${boundary}-like\n${text(field("t", "x"))}epilogue --${boundary}`;
    expect(await outcome(parse(`a line\r\nanother\r\n${text(field("t", "x"))}`))).toBe("parsed");
    expect(await outcome(parse(`${text(field("t", "x"))}epilogue\r\n--${boundary}\r\n`))).toBe("parsed");
    expect(await outcome(parse(body))).toBe(invalid);
  });

  test.each(["", "\r\n", "\n", " \t\r\n"])("may end in %j after the closing boundary", async (tail) =>
    expect(await outcome(parse(text(field("t", "x")).trimEnd() + tail))).toBe("parsed"),
  );

  test("keeps content that looks like a boundary, and all kinds of line ends", async () => {
    const content = `\r\n--Xb\r\n-X\n--${boundary}\n\r--${boundary}--\r\n\r\n\r\n--XbY\r\n-`;
    const { fields, files } = await parse(write([field("t", content), file("f", "a", content)]));
    expect([fields.t, files.f?.content.toString()]).toEqual([content, content]);
  });

  test("keeps an empty file, and treats a file input without a selection as absent", async () => {
    const { files } = await parse(write([file("empty", "a.png", ""), file("none", "", "")]));
    expect(files).toEqual({
      empty: { content: Buffer.alloc(0), fileName: "a.png", contentType: "image/png" },
    });
  });

  test("treats blank fields as absent", async () =>
    expect((await parse(write([field("a", ""), field("b", " \t\r\n"), field("c", "0")]))).fields).toEqual({
      c: "0",
    }));

  test("may have the same name for a field and a file", async () => {
    const { fields, files } = await parse(write([file("phone", "a.txt", "628"), field("image", "text")]));
    expect([Object.keys(fields), Object.keys(files)]).toEqual([["image"], ["phone"]]);
  });
});

describe("the Content-Type", () => {
  test.each([
    "multipart/form-data;boundary=XbX",
    "Multipart/Form-Data ; BOUNDARY=XbX",
    'multipart/form-data; boundary="XbX"',
    "multipart/form-data; charset=utf-8; boundary=XbX;",
    'multipart/form-data; boundary="XbX"; note="a;boundary=b"',
  ])("%s is read", async (contentType) =>
    expect(await outcome(parse(text(field("t", "x")), contentType))).toBe("parsed"),
  );

  test("may have a boundary of all characters that RFC 2046 allows", async () => {
    const all = "0aZ'()+_,-./:=? x";
    for (const one of [all, "-".repeat(70), "===============7=="])
      expect(
        await outcome(parse(write([field("t", "x")], one), `multipart/form-data; boundary="${one}"`)),
      ).toBe("parsed");
  });

  test.each([
    undefined,
    "",
    "multipart/form-data",
    "multipart/form-data; boundary",
    "multipart/form-data; boundary=",
    'multipart/form-data; boundary=""',
    'multipart/form-data; boundary="XbX',
    'multipart/form-data; boundary="XbX"X',
    'multipart/form-data; boundary="XbX "',
    "multipart/form-data; boundary=XbX; boundary=XbX",
    "multipart/form-data; boundary=XbX, text/plain",
    "multipart/form-data; boundary=Xb*X",
    `multipart/form-data; boundary=${"x".repeat(71)}`,
    "multipart/form-data; xboundary=XbX",
    "multipart/mixed; boundary=XbX",
    "multipart/form-data-x; boundary=XbX",
    "application/json",
    "application/x-www-form-urlencoded",
  ])("%s gets the contract's 500", async (contentType) => {
    const refusal = expect.objectContaining({
      status: 500,
      code: "bad_boundary",
      message: "request Content-Type has bad boundary or is not multipart/form-data",
    });
    // an argument that is undefined would be the default
    await expect(parse(text(field("t", "x")), contentType ?? " ")).rejects.toEqual(refusal);
    await expect(parse(null, contentType ?? " ")).rejects.toEqual(refusal);
  });

  test("when missing gets the contract's 500", async () => {
    const { parseMultipart } = await import("#lib/http/multipart.ts");
    const event = { headers: {}, body: text(field("t", "x")), isBase64Encoded: false };
    expect(await outcome(parseMultipart(event))).toBe(badBoundary);
  });
});

describe("a body that breaks", () => {
  const part = text(field("t", "x")).slice(0, -end.length);
  test.each<[string, string | null, RegExp]>([
    ["is null", null, /empty/],
    ["is empty", "", /empty/],
    ["is a JSON text", '{"phone":"628"}', /does not contain the boundary/],
    [
      "has another boundary",
      text(field("t", "x")).replaceAll("XbX", "OTHER"),
      /does not contain the boundary/,
    ],
    ["has LF for CRLF", text(field("t", "x")).replaceAll("\r\n", "\n"), /must end with CRLF/],
    ["ends in the headers of a part", `${part}--XbX\r\nContent-Disposition: form-da`, /ends within part 2/],
    ["ends in a file", part + text(file("f", "a", "DATA")).slice(0, 90), /ends within part 2/],
    ["ends in a field", `--XbX\r\nContent-Disposition: form-data; name="t"\r\n\r\nhel`, /ends within part 1/],
    ["ends after a part", part, /ends within part 1/],
    ["ends in a boundary", `${part}--XbX`, /ends within part 2/],
    ["ends in the closing boundary", `${part}--XbX-`, /ends within part 2/],
    ["has two boundaries in a row", `--XbX\r\n--XbX\r\n${end}`, /Part 1 lacks a blank line/],
    ["has a part of headers only", `${part.slice(0, -5)}\r\n${end}`, /Part 1 lacks a blank line/],
    ["has a part without headers", `--XbX\r\n\r\nx\r\n${end}`, /Part 1 lacks a header/],
    ["has more on a boundary's line", part.replace("--XbX", "--XbX ") + end, /part 1 must end with CRLF/],
    ["has headers on a boundary's line", part.replace("\r\n", "  ") + end, /part 1 must end with CRLF/],
    ["has a boundary as a line's start", `${part.slice(0, -2)}\r\n--XbXY\r\n${end}`, /part 2 must end/],
    [
      "has a closing boundary as a line's start",
      `${part}--XbX--Y\r\nZ\r\n${end}`,
      /followed by text on its line/,
    ],
  ])("because it %s gets 400 with the reason", async (_, body, message) =>
    expect(parse(body)).rejects.toMatchObject({
      status: 400,
      code: "invalid_request",
      message: expect.stringMatching(message),
    }),
  );

  test("because it is invalid base64 gets 400", async () => {
    const { parseMultipart } = await import("#lib/http/multipart.ts");
    const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
    const event = { headers, body: text(field("t", "x")), isBase64Encoded: true };
    expect(await outcome(parseMultipart(event))).toBe(invalid);
  });
});

describe("a name", () => {
  test.each([
    "files",
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "hasOwnProperty",
    "__defineGetter__",
  ])("like %s is reserved, for a field and for a file", async (name) => {
    const refusal = { status: 400, message: `The name ${name} is reserved; rename the field` };
    await expect(parse(write([field(name, "x"), file("f", "a", "D")]))).rejects.toMatchObject(refusal);
    await expect(parse(write([file(name, "a", "D")]))).rejects.toMatchObject(refusal);
    expect(Object.prototype).not.toHaveProperty("x");
  });

  test.each<[string, WrittenPart, WrittenPart]>([
    ["field", field("t", "1"), field("t", "2")],
    ["field, once blank", field("t", "1"), field("t", "")],
    ["file", file("t", "a", "1"), file("t", "b", "2")],
    ["file, once without a byte", file("t", "a", "1"), file("t", "", "")],
    ["field and as a file", field("t", "1"), file("t", "a", "1")],
  ])("must not occur twice as a %s", async (_, one, other) =>
    expect(parse(write([one, field("u", "x"), other]))).rejects.toMatchObject({
      status: 400,
      errors: [{ field: "t", message: "t must be given once, not repeated" }],
    }),
  );
});

describe("413 is the status", () => {
  const mebibytes = (n: number) => Buffer.alloc(n * 1024 * 1024, "\r\n--Xb");

  test("of a file over 4 MiB, with an alternative in the message", async () => {
    const full = mebibytes(4);
    expect((await parse(write([file("f", "a", full)]))).files.f?.content.length).toBe(full.length);
    await expect(parse(write([file("f", "a", Buffer.concat([full, Buffer.of(1)]))]))).rejects.toMatchObject({
      status: 413,
      code: "payload_too_large",
      message: expect.stringMatching(/4194304 bytes.*file_url or image_url/),
    });
  });

  test("of a form over 4 MiB and 96 KiB", async () => {
    const most = 4 * 1024 * 1024 + 96 * 1024;
    const whole = write([file("f", "a", mebibytes(4))]);
    const bodyOf = (bytes: number) => Buffer.concat([whole, Buffer.alloc(bytes - whole.length, "x")]);
    expect(await outcome(parse(bodyOf(most)))).toBe("parsed");
    expect(await outcome(parse(bodyOf(most + 1)))).toBe(tooLarge);
    expect(await outcome(parse("x".repeat(most)))).toBe(invalid);
    expect(await outcome(parse("x".repeat(most + 1)))).toBe(tooLarge);
  });

  test("of a field over 64 KiB", async () => {
    const most = "é".repeat(32 * 1024);
    expect((await parse(write([field("t", most)]))).fields.t).toBe(most);
    expect(await outcome(parse(write([field("t", `${most}x`)])))).toBe(tooLarge);
  });

  test("of a form with over 20 parts", async () => {
    const parts = Array.from({ length: 20 }, (_, i) => field(`t${i}`, "x"));
    expect(Object.keys((await parse(write(parts))).fields)).toHaveLength(20);
    expect(await outcome(parse(write([...parts, field("u", "x")])))).toBe(tooLarge);
    const thousands = Array.from({ length: 5_000 }, (_, i) => field(`t${i}`, "x"));
    expect(await outcome(parse(write(thousands)))).toBe(tooLarge);
  });
});

test.each([
  ["boundaries that never end", "-".repeat(70), `\r\n--${"-".repeat(69)}x`],
  ["dashes", "-".repeat(70), "x-----"],
  ["line ends", "a".repeat(70), "\r\n"],
  ["the start of a boundary", `${"a".repeat(69)}b`, `\r\n--${"a".repeat(70)}`],
])("parsing 4 MB of %s takes no longer than other bytes", async (_, between, pattern) => {
  const content = Buffer.alloc(4_000_000, pattern);
  const body = write([file("f", "a", content)], between);
  const before = process.threadCpuUsage();
  const { files } = await parse(body, `multipart/form-data; boundary=${between}`);
  // 10 ms
  expect(process.threadCpuUsage(before).user / 1_000).toBeLessThan(1_000);
  expect(files.f?.content.equals(content)).toBe(true);
});
