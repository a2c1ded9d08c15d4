import { expect, test } from "vitest";
import { findFileName, sanitizeFileName } from "#lib/messenger/accept/file-name.ts";

const url = new URL("https://files.example.org/a/from-url.pdf");
const asLatin1 = (text: string) => Buffer.from(text).toString("latin1");

test.each([
  ["a token", "attachment; filename=plan.pdf", "plan.pdf"],
  ["a quoted string", 'attachment; filename="my plan.pdf"', "my plan.pdf"],
  ["escaped quotes", 'attachment; filename="a \\"b\\".pdf"', 'a "b".pdf'],
  ["a semicolon within quotes", 'attachment; filename="a; filename=b.pdf"', "a; filename=b.pdf"],
  ["capitals and spaces", "ATTACHMENT ; FileName = plan.pdf", "plan.pdf"],
  ["UTF-8 in filename*", "attachment; filename*=UTF-8''na%C3%AFve%20%e2%82%ac.txt", "naïve €.txt"],
  ["Latin-1 in filename*", "attachment; filename*=iso-8859-1'en'%A3.txt", "£.txt"],
  ["filename* although filename comes first", "attachment; filename=a.txt; filename*=UTF-8''b.txt", "b.txt"],
  [
    "filename where filename* has an unknown charset",
    "inline; filename*=x-y''b.txt; filename=a.txt",
    "a.txt",
  ],
  [
    "raw UTF-8, as many servers send it",
    `attachment; filename="${asLatin1("Résumé 履歴.pdf")}"`,
    "Résumé 履歴.pdf",
  ],
  ["quoted filename*", "attachment; filename*=\"UTF-8''na%C3%AFve%20%e2%82%ac.txt\"", "naïve €.txt"],
  [
    "quoted filename* before filename",
    "attachment; filename=a.txt; filename*=\"UTF-8''%e2%82%ac.txt\"",
    "€.txt",
  ],
  ["filename* with a stray %", "attachment; filename*=UTF-8''na%C3%AFve%20100%.txt", "naïve 100%.txt"],
  ["filename* that is not UTF-8", "attachment; filename*=UTF-8''caf%E9.txt", "caf%E9.txt"],
  ["filename* without a charset", "attachment; filename*=plan.txt", "plan.txt"],
  ["raw Latin-1", 'attachment; filename="Résumé.pdf"', "Résumé.pdf"],
  ["the first of two", "attachment; filename=a.txt; filename=b.txt", "a.txt"],
  ["only the last part of a path", 'attachment; filename="../../etc/passwd"', "passwd"],
  ["only the last part of a Windows path", "attachment; filename*=UTF-8''C%3A%5Ctmp%5Cx.exe", "x.exe"],
  ["only the last part of a path in filename*", "attachment; filename*=UTF-8''..%2F..%2Fx.sh", "x.sh"],
  ["no control characters", "attachment; filename*=UTF-8''a%00b%0d%0ac%1f%7f.txt", "abc.txt"],
  ["the URL's where there is none", "inline", "from-url.pdf"],
  ["the URL's where it is empty", 'attachment; filename=""', "from-url.pdf"],
  ["the URL's where it is dots", 'attachment; filename=".."', "from-url.pdf"],
  ["the URL's where it is a folder's", 'attachment; filename="/"', "from-url.pdf"],
])("takes the name from %s", (_what, disposition, name) => {
  expect(findFileName(disposition, url)).toBe(name);
});

test.each([
  ["/a/b.pdf", "b.pdf"],
  ["/a/Surat%20Edaran.pdf", "Surat Edaran.pdf"],
  ["/a/x%2Fy.pdf", "y.pdf"],
  ["/a/%2e%2e%2f", undefined],
  ["/a/100%", "100%"],
  ["/%ff.pdf", "%ff.pdf"],
  ["/履歴.pdf", "履歴.pdf"],
  ["/a/b/", undefined],
  ["/", undefined],
])("makes of the path %s the name %s", (path, name) => {
  expect(findFileName(undefined, new URL(path, url))).toBe(name);
});

test("cuts a long name to 200 characters and leaves its ending", () => {
  expect(sanitizeFileName(`${"a".repeat(500)}.docx`)).toBe(`${"a".repeat(195)}.docx`);
  expect(sanitizeFileName(`a.${"b".repeat(500)}`)).toHaveLength(200);
  const faces = sanitizeFileName(`a${"😀".repeat(150)}.pdf`) ?? "";
  expect([faces.isWellFormed(), faces.endsWith("😀.pdf"), faces.length <= 200]).toEqual([true, true, true]);
});

test("takes out the marks that let an .exe show as a .pdf, and lone surrogates", () => {
  expect(sanitizeFileName("annex\u202efdp.exe")).toBe("annexfdp.exe");
  expect(sanitizeFileName("a\ud800.txt")?.isWellFormed()).toBe(true);
});

test("reads a hostile header in linear time", () => {
  const before = process.threadCpuUsage();
  for (const part of [";", "; a", '; filename="', '; filename="\\', "; filename*=UTF-8''%", ";\t"])
    findFileName(`x${part.repeat(20_000)}`, url);
  expect(process.threadCpuUsage(before).user / 1_000).toBeLessThan(1_000);
});
