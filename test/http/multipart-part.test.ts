import { describe, expect, test } from "vitest";
import { file, outcome, parse, type WrittenPart, write } from "../steps/multipart.ts";

const invalid = "400 invalid_request";
const disposition = (parameters: string): WrittenPart => ({
  headers: [`Content-Disposition: form-data${parameters}`],
  content: "x",
});

describe("a part", () => {
  test.each([
    '; name="t"',
    "; name=t",
    ' ;\tname="t" ; size=3 ',
    '; name="t";',
    '; filename="a"; name="t"',
    '; NAME="t"; FileName="a"',
    '; name="nama lengkap"',
    '; name="toko;1"',
    '; name="título"',
  ])("with form-data%s is read", async (parameters) =>
    expect(await outcome(parse(write([disposition(parameters)])))).toBe("parsed"),
  );

  test.each([
    "",
    "; name",
    "; name=",
    '; name=""',
    '; name="t',
    '; name="t"u"',
    '; name="t" u',
    "; name=t u",
    '; name="t"; name="u"',
    '; name="t"; NAME="t"',
    "; name*=UTF-8''t",
    `; name="t"; name*=UTF-8''files`,
    '; name="a\\"b"',
    '; name="a\\b"',
    '; name="a\tb"',
    `; name="${"n".repeat(101)}"`,
    '; name="t"; filename="a',
    '; name="t"; filename="a"b"',
    '; name="t"; filename="a\0.png"',
    '; name="t"; filename="a%0Ab"',
    '; name="t"; filename="a"; filename="b"',
    "; name=t; filename*=UTF-8''%ff",
    "; name=t; filename*=UTF-8''%4",
    "; name=t; filename*=UTF-8''a%00b",
    "; name=t; filename*=UTF-8''a%0A%2Fb",
    "; name=t; filename*=utf-16''a",
    "; name=t; filename*=a",
    "; name=t; filename*0=a; filename*1=b",
    `; name=t; filename="${"n".repeat(256)}"`,
    "\r\n ; name=t",
    "; name=t\nX: y",
    "; name=t\rX: y",
  ])("with form-data%j is 400", async (parameters) =>
    expect(await outcome(parse(write([disposition(parameters)])))).toBe(invalid),
  );

  const named = 'Content-Disposition: form-data; name="t"';
  test.each<[string, string[]]>([
    ["no Content-Disposition", ["Content-Type: text/plain"]],
    ["another disposition", ['Content-Disposition: attachment; name="t"']],
    ["its Content-Disposition twice", [named, named]],
    ["its Content-Type twice", [named, "Content-Type: text/plain", "content-type: text/plain"]],
    ["a header without a colon", [named, "Content-Type"]],
    ["a header without a name", [named, ": x"]],
    ["a blank in a header's name", [named, "Content Type: x"]],
    ["a blank before a header's colon", ["Content-Disposition : form-data; name=t"]],
    ["a blank before its header (CVE-2022-24434)", [` ${named}`]],
    ["a folded header", [named, "X: y", " z"]],
    ["a NUL in a header", [named, "X: \0"]],
    ["a DEL in a header", [named, "X: \x7f"]],
    ["over 4 KiB of headers", [named, `X: ${"y".repeat(4096)}`]],
    ["content in base64", [named, "Content-Transfer-Encoding: base64"]],
    ["two encodings", [named, "Content-Transfer-Encoding: quoted-printable, base64"]],
    ["a charset that the parser would encode by", [named, "Content-Type: text/plain; charset=base64"]],
    ["text in UTF-16", [named, "Content-Type: text/plain; charset=utf-16le"]],
    ["a charset that objects know", [named, "Content-Type: text/plain; charset=constructor"]],
    ["two charsets", [named, "Content-Type: text/plain; charset=utf-8; charset=base64"]],
    ["two charsets under one quote", [named, 'Content-Type: text/plain; charset="utf-8"a; charset=base64']],
  ])("with %s is 400", async (_, headers) =>
    expect(await outcome(parse(write([{ headers, content: "é" }])))).toBe(invalid),
  );

  test("may have headers of at most 4 KiB, line ends included", async () => {
    const headersOf = (bytes: number) => [named, "X: ".padEnd(bytes - named.length - 4, "y")];
    expect(await outcome(parse(write([{ headers: headersOf(4_096), content: "x" }])))).toBe("parsed");
    expect(await outcome(parse(write([{ headers: headersOf(4_097), content: "x" }])))).toBe(invalid);
  });

  test("may have a name of 100 characters and a filename of 255", async () => {
    const [name, fileName] = ["n".repeat(100), "é".repeat(255)];
    expect((await parse(write([file(name, fileName, "x")]))).files[name]?.fileName).toBe(fileName);
  });

  const quoted = [named, "Content-Transfer-Encoding: quoted-printable"];
  test.each([
    ["=C3=a9=20=\r\n!", "é !"],
    ["a= \t\nb\r\nc", "ab\r\nc"],
    ["=3D41 =\r\n", "=41 "],
    ["plain é", "plain é"],
  ])("in quoted-printable is decoded: %j", async (content, text) =>
    expect((await parse(write([{ headers: quoted, content }]))).fields.t).toBe(text),
  );

  test("in quoted-printable is decoded before its charset", async () => {
    const headers = [...quoted, "Content-Type: text/plain; charset=iso-8859-1"];
    expect((await parse(write([{ headers, content: "=e9" }]))).fields.t).toBe("é");
  });

  test.each(["=", "=4", "=G0", "= x", "=ff"])("in quoted-printable is 400 for the text %j", async (content) =>
    expect(await outcome(parse(write([{ headers: quoted, content }])))).toBe(invalid),
  );

  test.each(["7bit", "8bit", "binary", "BINARY"])("may have the header %s", async (encoding) =>
    expect(
      await outcome(
        parse(write([{ headers: [named, `Content-Transfer-Encoding: ${encoding}`], content: "x" }])),
      ),
    ).toBe("parsed"),
  );

  test("with headers that are not UTF-8 is 400", async () => {
    const body = write([file("f", "caf\xe9", "x")]).toString();
    expect(await outcome(parse(Buffer.from(body, "latin1")))).toBe(invalid);
  });

  test("may have headers in any case and order", async () => {
    const headers = [
      "CONTENT-TYPE: image/png",
      "X-More: 1",
      'content-disposition: form-data; name="f"; filename="a"',
    ];
    expect((await parse(write([{ headers, content: "x" }]))).files.f?.contentType).toBe("image/png");
  });

  test("without a filename is a file if its type is binary, otherwise text in UTF-8", async () => {
    const content = Buffer.from([0xff, 0xd8]);
    const bytes = { headers: [named, "Content-Type: application/octet-stream"], content };
    const image = { headers: [named, "Content-Type: image/jpeg"], content };
    expect((await parse(write([bytes]))).files.t?.content).toEqual(content);
    await expect(parse(write([image]))).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/not UTF-8 text/),
    });
  });

  test.each([
    ["utf-8", Buffer.from("é")],
    ['"UTF-8"', Buffer.from("é")],
    ["ISO-8859-1", Buffer.from([0xe9])],
  ])("may be text in %s", async (charset, content) => {
    const headers = [named, `Content-Type: text/plain; charset=${charset}`];
    expect((await parse(write([{ headers, content }]))).fields.t).toBe("é");
  });

  test("that is declared as US-ASCII must be US-ASCII", async () => {
    const headers = [named, "Content-Type: text/plain; charset=US-ASCII"];
    expect(await outcome(parse(write([{ headers, content: "628" }])))).toBe("parsed");
    expect(await outcome(parse(write([{ headers, content: "é" }])))).toBe(invalid);
  });

  test.each([
    ["", "application/octet-stream"],
    ["png", "application/octet-stream"],
    ["image/png\xa0x", "application/octet-stream"],
    ["IMAGE/PNG; name=a b", "image/png"],
    ["multipart/mixed; boundary=b", "multipart/mixed"],
  ])("that is a file of type %j has the type %s", async (sent, type) =>
    expect((await parse(write([file("f", "a", "x", sent)]))).files.f?.contentType).toBe(type),
  );

  test("is 400 when its type does not say whether it is a file", async () => {
    const headers = [named, "Content-Type: application/octet-stream\xa0"];
    expect(await outcome(parse(write([{ headers, content: "x" }])))).toBe(invalid);
  });
});

test.each([
  ['filename="a.png"', "a.png"],
  ["filename=a.png", "a.png"],
  ['filename="naïve € 文書.png"', "naïve € 文書.png"],
  ['filename="a%22b.png"', 'a"b.png'],
  ['filename="a\\"b.png"', 'a"b.png'],
  ['filename="100%41.png"', "100%41.png"],
  ['filename="a;b=c.png"', "a;b=c.png"],
  ['filename="it\'s.png"', "it's.png"],
  ['filename="../../etc/passwd"', "passwd"],
  ['filename="C:\\Users\\x\\a.png"', "a.png"],
  ['filename=".."', ""],
  ["filename*=UTF-8''%e2%82%ac%20rates.png", "€ rates.png"],
  ["filename*=utf-8'id'it's.png", "it's.png"],
  ["filename=\"EURO.png\"; filename*=UTF-8''%e2%82%ac.png", "€.png"],
  ["filename*=UTF-8''%e2%82%ac.png; filename=EURO.png", "€.png"],
  ["filename*=\"UTF-8''%e2%82%ac.png\"", "€.png"],
  ["filename=\"100%.png\"; filename*=UTF-8''100%.png", "100%.png"],
  ["filename=EURO.png; filename*=UTF-8''%ff.png", "EURO.png"],
  ["filename*=%e2%82%ac.png; filename=EURO.png", "EURO.png"],
])("a file with %s is called %s", async (parameter, name) =>
  expect((await parse(write([disposition(`; name="f"; ${parameter}`)]))).files.f?.fileName).toBe(name),
);
