import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { openImport } from "#lib/import/file.ts";
import { HeaderError } from "#lib/import/header.ts";
import type { Rejection, Row } from "#lib/import/table.ts";
import { residentImport } from "#lib/resident/import.ts";
import { categoryImport, galleryImport } from "#lib/tourism/import.ts";

const read = async (input: string | Buffer, table = residentImport, blockBytes = 65_536) => {
  const bytes = Buffer.from(input);
  const blocks = Array.from({ length: Math.ceil(bytes.length / blockBytes) }, (_, i) =>
    bytes.subarray(i * blockBytes, (i + 1) * blockBytes),
  );
  const file = await openImport(Readable.from(blocks), table);
  const rows: Row[] = [];
  const rejections: Rejection[] = [];
  for await (const block of file.blocks) {
    rows.push(...block.rows);
    rejections.push(...block.rejections);
  }
  return { ...file, rows, rejections };
};

const header = "nik,no_kk,nama,nama_ibu,alamat,t_dusun_lingkungan,t_desakel,t_kec,t_kabkota,created_at";
const nik = (n: number) => `99990101010${String(n).padStart(5, "0")}`;
const line = (n: number, { name = "NAMA", created = "2024-01-02T03:04:05.000001", address = "JL" } = {}) =>
  `${nik(n)},${nik(0)},${name},IBU,${address},D,V,K,C,${created}`;
const quoted = (text: string) => text.replace(/[^,\n]+/g, '"$&"');
const file = (...lines: string[]) => [header, ...lines, ""].join("\n");

describe("the shape of a file", () => {
  test.each([
    ["line ends of Windows", (text: string) => text.replaceAll("\n", "\r\n")],
    ["a byte order mark", (text: string) => `\uFEFF${text}`],
    ["semicolons", (text: string) => text.replaceAll(",", ";")],
    ["tabs", (text: string) => text.replaceAll(",", "\t")],
    ["no line end at the end", (text: string) => text.trimEnd()],
    [
      "headers in capitals, with spaces",
      (text: string) => text.replace(header, header.toUpperCase().replaceAll(",", " , ")),
    ],
    ["every field in quotes", quoted],
    ["a byte order mark before a quote", (text: string) => `\uFEFF${quoted(text)}`],
    ["blank lines", (text: string) => text.replaceAll("\n", "\n\n")],
    ["blank lines and lines of delimiters above the header", (text: string) => `\n,,,,\n${text}`],
    ["a first line that names the delimiter", (text: string) => `sep=^\n${text.replaceAll(",", "^")}`],
    ["that line in quotes", (text: string) => `\uFEFF"sep=;",,,\n${text.replaceAll(",", ";")}`],
    [
      "headers with other separators and invisible marks",
      (text: string) => text.replace("no_kk,nama", "NO. KK,\u200bNama\u00a0"),
    ],
    ["rows that end with blank cells", (text: string) => text.replace(/(JL.*)$/gm, "$1,, ,")],
  ])("may have %s", async (_, change) => {
    const { rows, rejections } = await read(change(file(line(1), line(2, { name: "ÉLÈNE" }))));
    expect(rejections).toEqual([]);
    expect(rows.map(({ values }) => values[2])).toEqual(["NAMA", "ÉLÈNE"]);
  });

  test("may be cut into blocks anywhere, also within a character", async () => {
    const text = file(line(1, { name: "ÉLÈNE 😀" }), line(2, { name: '"KUTIP ""X"", KOMA"' }));
    const whole = await read(text);
    for (const bytes of [1, 2, 3, 7])
      expect((await read(text, residentImport, bytes)).rows).toEqual(whole.rows);
  });

  test("may have other columns, in another order, and no created_at", async () => {
    const text = `lain,t_kabkota,t_kec,t_desakel,t_dusun_lingkungan,alamat,nama_ibu,nama,no_kk,nik\nx,C,K,V,D,JL,IBU,NAMA,${nik(0)},${nik(1)}\n`;
    const { rows, ignored } = await read(text);
    expect(ignored).toEqual(["lain"]);
    expect(rows).toEqual([
      { line: 2, values: [nik(1), nik(0), "NAMA", "IBU", "JL", "D", "V", "K", "C", null] },
    ]);
  });

  test.each([
    ["", "empty"],
    ["nik,nama\n1,2\n", "missing: no_kk, nama_ibu, alamat"],
    [`${header},nik\n`, "names column nik twice"],
    [Buffer.from(file(line(1)), "utf16le"), "not UTF-8"],
    [file(line(1)).replaceAll("\n", "\r"), "end with CR alone"],
    ["PK\u0003\u0004\u0014\u0000\u0006", "an Excel workbook"],
    [
      `DATA PENDUDUK,,,\n\n${file(line(1))}`,
      'Line 1 is not the header: "DATA PENDUDUK". The header is in line 3: delete the lines above it.',
    ],
    ["nik,Nama Lengkap\n1,2\n", "Found: nik, Nama Lengkap"],
    [`${line(1)}\n${line(2)}\n`, "Found: values, and no names of columns"],
  ])("is rejected as a whole when the header is unusable: %#", async (text, message) => {
    const rejection = await read(text).catch((error) => error);
    expect(rejection).toBeInstanceOf(HeaderError);
    expect(rejection.message).toContain(message);
  });
});

describe("a bad row", () => {
  test.each([
    [line(1).replace(nik(1), "123"), "nik must have exactly 16 digits"],
    [line(1).replace(nik(1), "9.99901E+15"), "nik was rounded by a spreadsheet"],
    [line(1, { name: "" }), "nama must not be blank"],
    [line(1, { name: " " }), "nama must not be blank"],
    [line(1, { name: "😀".repeat(501) }), "nama must have at most 500 characters"],
    [line(1, { name: "A\0B" }), "nama contains a NUL character"],
    [line(1, { created: "2024-02-30T00:00:00" }), "created_at is not a valid date and time"],
    [line(1, { created: "2024-01-01T00:00:00Z" }), "created_at must look like"],
    [line(1, { created: "2024-01-01T00:00:00+07:00" }), "created_at must look like"],
    [line(1, { created: "infinity" }), "created_at must look like"],
    [line(1, { created: "1700-01-01 00:00:00" }), "created_at is not a valid date"],
    [line(1, { created: "2024-01-01T00:00:00.1234567" }), "created_at must look like"],
    ["1,2,3", "nik must have exactly 16 digits; no_kk must have exactly 16 digits"],
    [`${line(1)},more`, "the row has 11 fields"],
    [line(1, { address: "#REF!" }), "alamat is an error of a spreadsheet"],
    [line(1, { name: "-" }), "nama must not be blank"],
    ["x".repeat(70_000), "the line is too long"],
    [line(1, { name: '"OPEN' }), "the quotes do not match"],
  ])("is rejected with its reason: %#", async (bad, reason) => {
    const { rows, rejections } = await read(file(line(2), bad, line(3)));
    expect(rows.map(({ line }) => line)).toEqual([2, 4]);
    expect(rejections).toEqual([
      expect.objectContaining({ line: 3, reason: expect.stringContaining(reason) }),
    ]);
  });

  test.each([
    "999901010100001",
    "9999010101000.001",
    "999901010100000.1",
    "999901010100000.0",
    "999.901.010.100.000.0",
    "99.990.101.010.000.00",
    "9999010101000001/2",
    "9999010101000001 9999010101000002",
    "9,99901E+15",
    "1E+16",
    "0",
    "-",
  ])("whose nik is %s is rejected: it has no meaning, or several", async (written) => {
    const { rows, rejections } = await read(file(line(2), line(1).replace(nik(1), `"${written}"`)));
    expect(rows.length).toBe(1);
    expect(rejections[0]?.reason).toMatch(/^nik (must have exactly 16 digits|was rounded)/);
  });

  test("gets all its errors at once", async () => {
    const { rejections } = await read(file(line(1, { name: "" }).replace(nik(1), "x")));
    expect(rejections[0]?.reason).toBe("nik must have exactly 16 digits; nama must not be blank");
  });

  test("that is not UTF-8 is rejected, and the next one is read", async () => {
    const bytes = Buffer.concat([
      Buffer.from(`${header}\n`),
      Buffer.from(line(1, { name: "Z\xe9" }), "latin1"),
      Buffer.from(`\n${line(2)}\n`),
    ]);
    const { rows, rejections } = await read(bytes);
    expect([rows.length, rejections[0]?.reason]).toEqual([
      1,
      "nama contains \uFFFD, in place of letters that were lost or are not UTF-8",
    ]);
  });

  test("with an unclosed quote does not affect other rows, wherever the next quotes are", async () => {
    const lines = Array.from({ length: 200 }, (_, i) => line(i, i % 3 === 0 ? { name: `"N, ${i}"` } : {}));
    lines[20] = line(20, { name: '"OPEN' });
    lines[199] = line(199, { name: '"OPEN' });
    const { rows, rejections } = await read(file(...lines));
    expect(rejections.map(({ line }) => line)).toEqual([22, 201]);
    expect(rows.length).toBe(198);
  });
});

test("two stray quotes do not hide the rows between them, or mix two people", async () => {
  const lines = [line(1, { address: '"JL' }), line(2), line(3, { address: 'JL"' }), line(4)];
  const { rows, rejections } = await read(file(...lines));
  expect(rejections.map(({ line, reason }) => [line, reason])).toEqual([[2, "the quotes do not match"]]);
  expect(rows.map(({ values }) => values[0])).toEqual([nik(2), nik(3), nik(4)]);
});

test("rows of delimiters only, as at the end of a spreadsheet, are ignored", async () => {
  const { rows, rejections } = await read(file(line(1), ",,,,,,,,,", ",,,"));
  expect([rows.length, rejections]).toEqual([1, []]);
});

test("a quoted field whose second line is too long is rejected, not truncated", async () => {
  const { rows, rejections } = await read(file(line(1, { address: `"JL\n${"x".repeat(70_000)}"` }), line(2)));
  expect(rows.map(({ values }) => values[0])).toEqual([nik(2)]);
  expect(rejections.map(({ line }) => line)).toEqual([2, 3]);
});

test("quotes inside an unquoted field are text", async () => {
  const { rows } = await read(file(line(1, { name: 'O"BRIEN' }), line(2, { name: 'SI "KECIL" X' })));
  expect(rows.map(({ values }) => values[2])).toEqual(['O"BRIEN', 'SI "KECIL" X']);
});

test("a quoted field may span lines, and rows are numbered as a spreadsheet shows them", async () => {
  const lines = [line(1, { address: '"JL A\nNO 1"' }), "", line(2), line(3, { name: "" })];
  const { rows, rejections } = await read(`sep=,\n${file(...lines)}`);
  expect(rows.map(({ line, values }) => [line, values[4]])).toEqual([
    [2, "JL A\nNO 1"],
    [4, "JL"],
  ]);
  expect(rejections.map(({ line }) => line)).toEqual([5]);
});

test.each([
  "'9999010101000001",
  "\u20199999010101000001\u00a0",
  "99.9901.010100.0001",
  "9.999.010.101.000.001",
  '"9,999,010,101,000,001"',
  "9999-0101-0100-0001",
  '="9999010101000001"',
  '"=""9999010101000001"""',
  "9999 0101 0100 0001",
  "\u200e9999010101000001\ufeff",
  "9999010101\u00ad000001",
  "9999010101000001.0",
  "9999010101000001.00",
  '"9999010101000001,0"',
  "９９９９０１０１０１０００００１",
])("a number that an export writes as %s is the one with its 16 digits", async (written) => {
  const { rows, rejections } = await read(file(`${written},${line(1).slice(17)}`, line(2)));
  expect(rejections).toEqual([]);
  expect(rows.map(({ values }) => values[0])).toEqual(["9999010101000001", nik(2)]);
});

test.each(["-", "--", "–", "0", "NULL", "\\N", "", " ", "\u200b"])(
  "in every column but nik and nama, %j means that there is no value",
  async (none) => {
    const cells = [nik(1), none, "NAMA", ...Array<string>(7).fill(none)];
    const { rows, rejections } = await read(file(cells.join(",")));
    expect(rejections).toEqual([]);
    expect(rows.map(({ values }) => values)).toEqual([[nik(1), null, "NAMA", ...Array(7).fill(null)]]);
  },
);

test("a row that lacks its last cells is read, unless the file ends within it", async () => {
  const short = (n: number) => line(n).split(",").slice(0, 5).join(",");
  const { rows, rejections } = await read(file(short(1), short(2), short(3)).trimEnd());
  expect(rows.map(({ values }) => values.slice(3, 6))).toEqual(Array(2).fill(["IBU", "JL", null]));
  expect(rejections).toMatchObject([{ line: 4, reason: "the file ends within this row" }]);
});

test("text is not changed but for what surrounds it", async () => {
  const names = ["SITI\u200b CASE", "MA\u2019RUF", "O  P", "'AIN", '="Q"', "\u200eR "];
  const { rows } = await read(file(...names.map((name, i) => line(i, { name }))));
  expect(rows.map(({ values }) => values[2])).toEqual([...names.slice(0, 4), "Q", "R"]);
});

test("a CR alone is text, not a line end, inside and outside quotes", async () => {
  const lines = [line(1, { name: "A\rB" }), line(2, { name: "C\rD", address: '"JL\r, 1"' }), line(3)];
  const { rows, rejections } = await read(file(...lines));
  expect(rejections).toEqual([]);
  expect(rows.map(({ line, values }) => [line, values[2], values[4]])).toEqual([
    [2, "A\rB", "JL"],
    [3, "C\rD", "JL\r, 1"],
    [4, "NAMA", "JL"],
  ]);
});

test("a name is stored in composed form and trimmed", async () => {
  const { rows } = await read(file(line(1, { name: ` ${"É".normalize("NFD")}LAN ` })));
  expect(rows[0]?.values[2]).toBe("ÉLAN");
});

test("categories and gallery have their own rules", async () => {
  const categories = await read("ktipe_id,ktipe_nama,ktipe_active\n1,Alam,1\n,X,1\n", categoryImport);
  expect([categories.rows.length, categories.rejections[0]?.reason]).toEqual([
    1,
    "ktipe_id must not be blank",
  ]);
  const gallery = await read(
    "id,pr_id,url_foto,caption\n1,12,https://a.example/x.jpg,\n1.5,12,https://a.example,\n'3.0,12,https://a.example,\n2,(x),ftp://a,\n2147483648,1,http://a,\n",
    galleryImport,
  );
  expect(gallery.rows.map(({ values }) => values[0])).toEqual(["1", "3"]);
  expect(gallery.rejections.map(({ reason }) => reason)).toEqual([
    "id must be a whole number up to 2147483647",
    "pr_id must have 1 to 64 letters, digits, '.', '_' or '-'; url_foto must be an http or https address",
    "id must be a whole number up to 2147483647",
  ]);
});
