import { field, file, type WrittenPart, write } from "../steps/multipart.ts";
import { Random } from "../steps/random.ts";

/** A form before any client wrote it down. */
export interface Form {
  readonly fields: Record<string, string>;
  readonly files: Record<string, { content: Buffer; fileName: string; contentType: string }>;
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const boundaryMarks = "'()+_,-./:=?";
const types = ["image/png", "image/jpeg", "application/pdf", "text/plain", "application/octet-stream"];
const maxFileBytes = 64 * 1024;

/** Source of file contents: generating each byte would take longer than parsing them. */
const pool = (() => {
  const random = new Random(1);
  return Buffer.from(Array.from({ length: 256 * 1024 }, () => random.below(256)));
})();

const size = (random: Random, max: number) => random.below(random.pick([2, 40, 1_000, max + 1]));

/** Bytes with line ends, dashes and near misses of the boundary among them. */
const content = (random: Random, between: string): Buffer => {
  const start = random.below(pool.length - maxFileBytes);
  const bytes = Buffer.from(pool.subarray(start, start + size(random, maxFileBytes)));
  const near = [
    `\r\n--${between.slice(0, -1)}`,
    `\r\n-${between}--\r\n`,
    `\n--${between}\r\n`,
    "\r\n\r\n",
    "\r",
    "\n--",
  ];
  for (let i = random.below(6); i > 0; i--) bytes.write(random.pick(near), random.below(bytes.length + 1));
  // the bytes after a near miss may by chance complete it
  return bytes.includes(`\r\n--${between}`) ? Buffer.alloc(0) : bytes;
};

/** A form of up to four fields and three files, with contents that nearly hold the boundary. */
export const makeForm = (random: Random, between: string): Form => {
  const form: Form = { fields: {}, files: {} };
  const nameOf = (i: number) => `${random.text(`${letters}_-. é文`, random.below(12))}${i}`;
  for (let i = random.below(5); i > 0; i--) {
    const value = random.text(`${letters} \n"\\%;=é€文😀`, size(random, 2_000));
    form.fields[nameOf(i)] = random.chance(5) ? value.repeat(10) : value;
  }
  for (let i = random.below(4); i > 0; i--)
    form.files[nameOf(i + 4)] = {
      content: content(random, between),
      fileName: `${random.text(`${letters} ()'";=%é文😀`, random.below(40))}.x`,
      contentType: random.pick(types),
    };
  return form;
};

/** What a reader should make of it: blank fields are absent. */
export const expected = ({ fields, files }: Form) => ({
  fields: Object.fromEntries(Object.entries(fields).filter(([, value]) => value.trim() !== "")),
  files,
});

/** A boundary of 1 to 70 of the characters that RFC 2046 allows. */
export const makeBoundary = (random: Random): string =>
  random.text(`${letters}${random.chance(50) ? boundaryMarks : ""}`, 1 + random.below(70));

const quoted = (text: string) => text.replace(/"/g, "%22");
const extended = (text: string) =>
  `UTF-8''${encodeURIComponent(text).replace(/['()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`)}`;

const shuffleCase = (random: Random, line: string) => {
  const colon = line.indexOf(":");
  const name = line.slice(0, colon);
  return random.pick([name, name.toLowerCase(), name.toUpperCase()]) + line.slice(colon);
};

/** A form in one of the many spellings that the standards allow. */
export const writeByHand = (random: Random, { fields, files }: Form, between: string) => {
  const parts = [
    ...Object.entries(fields).map(([name, value]) => field(name, value)),
    ...Object.entries(files).map(([name, { content: bytes, fileName, contentType }]): WrittenPart => {
      const plain = file(name, quoted(fileName), bytes, contentType);
      const [disposition = "", ...others] = plain.headers;
      if (random.chance(60)) return plain;
      const alone = disposition.replace(/; filename=.*/s, "");
      return { headers: [`${alone}; filename*=${extended(fileName)}`, ...others], content: bytes };
    }),
  ].map(({ headers, content: bytes }) => ({
    headers: [
      ...headers.map((line) => shuffleCase(random, line)),
      ...(random.chance(20) ? ["X-Any: thing"] : []),
    ].toSorted(() => random.below(3) - 1),
    content: bytes,
  }));
  const preamble = random.chance(20) ? random.pick(["\r\n", "preamble\r\n", "\r\n\r\n-\r\n"]) : "";
  const epilogue = random.chance(20) ? random.pick(["\r\n", "epilogue\r\n--", `--${between}--`]) : "";
  const bare = /^[\w'+.-]+$/.test(between) && random.chance(70);
  return {
    body: Buffer.concat([Buffer.from(preamble), write(parts, between), Buffer.from(epilogue)]),
    contentType:
      random.pick(["multipart/form-data; ", "multipart/form-data;", "Multipart/Form-Data; charset=utf-8; "]) +
      random.pick(["boundary=", "Boundary="]) +
      (bare ? between : `"${between}"`),
  };
};
