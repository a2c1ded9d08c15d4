import { afterAll, beforeAll, expect, test } from "vitest";
import type { MultipartForm } from "#lib/http/multipart.ts";
import { boundary, field, file, outcome, parse, type WrittenPart, write } from "../steps/multipart.ts";
import { Random } from "../steps/random.ts";

const invalid = "400 invalid_request";
const tooLarge = "413 payload_too_large";
const badBoundary = "500 bad_boundary";
const end = `--${boundary}--\r\n`;

const uncaught: unknown[] = [];
const collect = (error: unknown) => void uncaught.push(error);
beforeAll(() => {
  process.on("unhandledRejection", collect);
  process.on("uncaughtExceptionMonitor", collect);
});
afterAll(() => {
  process.off("unhandledRejection", collect);
  process.off("uncaughtExceptionMonitor", collect);
});

const makeParts = (random: Random): WrittenPart[] =>
  Array.from({ length: 1 + random.below(4) }, (_, i) => {
    const content = random.text("ab\r\n-X:; =\"'\\%é", random.below(60));
    return random.chance(50) ? field(`t${i}`, content) : file(`f${i}`, random.text("abé.", 5), content);
  });

const badHeaders = [
  " folded: x",
  "no colon",
  ": no name",
  "Two words: x",
  "Blank : x",
  "Nul: \0",
  "Return: a\rb",
  "Feed: a\nb",
  "Content-Transfer-Encoding: base64",
  'Content-Disposition: form-data; name="again"',
  `Long: ${"x".repeat(5_000)}`,
];

const badDispositions = [
  "",
  "form-data",
  "form-data; name",
  "form-data, name=t",
  'form-data name="t"',
  'form-data; name="t',
  'form-data; name="a"b"',
  'form-data; name=""t""',
  'form-data; name="\\"t"',
  'form-data; name="t"; name="files"',
  `form-data; name="t"; name*=UTF-8''files`,
  'form-data; name="t"; x="; name="files"',
  'form-data; name="t"; filename="a"b"',
  'form-data; name="t"; filename="a\\"',
  'form-data; name="t"; filename="%0d%0a"',
  "form-data; name=t; filename*=UTF-8''%zz",
  'form-data; name="files"',
  'form-data; name="__proto__"; filename="a"',
  'form-data; name="constructor"',
  'inline; name="t"',
];

const replaceAt = (body: Buffer, from: number, to: number, by: Buffer | string) =>
  Buffer.concat([body.subarray(0, from), Buffer.from(by), body.subarray(to)]);

/** A change to a valid body and the expected answer; undefined for a change that may be harmless. */
interface Case {
  readonly body: Buffer;
  readonly contentType?: string;
  readonly must?: string;
}

const withPart = (random: Random, part: WrittenPart): Buffer => {
  const parts = makeParts(random);
  parts.splice(random.below(parts.length + 1), 0, part);
  return write(parts);
};

/** One way each to break a body. */
const mutations: Record<string, (random: Random) => Case> = {
  truncated: (random) => {
    const body = write(makeParts(random));
    return { body: body.subarray(0, random.below(body.length - "-\r\n".length)), must: invalid };
  },
  "without the closing boundary": (random) => {
    const body = write(makeParts(random));
    return { body: body.subarray(0, body.length - end.length), must: invalid };
  },
  "with LF for CRLF": (random) => ({
    body: Buffer.from(write(makeParts(random)).toString().replaceAll("\r\n", "\n")),
    must: invalid,
  }),
  "with a bad header": (random) => {
    const good = field("t", "x");
    const headers = [...good.headers];
    headers.splice(random.below(2), 0, random.pick(badHeaders));
    return { body: withPart(random, { ...good, headers }), must: invalid };
  },
  "with a bad disposition": (random) => {
    const headers = [`Content-Disposition: ${random.pick(badDispositions)}`];
    return { body: withPart(random, { headers, content: "x" }), must: invalid };
  },
  "with a part twice": (random) => {
    const parts = makeParts(random);
    return { body: write([...parts, random.pick(parts)]), must: invalid };
  },
  "with a part without headers": (random) => ({
    body: withPart(random, { headers: [], content: "x" }),
    must: invalid,
  }),
  "with a field that is not UTF-8": (random) => ({
    body: withPart(random, field("t", Buffer.from([0x61, 0x80 + random.below(128)]))),
    must: invalid,
  }),
  "with too many parts": (random) => ({
    body: write(Array.from({ length: 21 + random.below(30) }, (_, i) => field(`t${i}`, "x"))),
    must: tooLarge,
  }),
  "with another boundary": (random) => ({
    body: write(makeParts(random), random.text("yz", 5)),
    must: invalid,
  }),
  "that is anything": (random) => ({
    body: Buffer.from(random.text('ab\r\n-:;"=\0é', 1 + random.below(300))),
    must: invalid,
  }),
  "without a usable boundary": (random) => ({
    body: write(makeParts(random)),
    contentType: random.pick([
      "multipart/form-data",
      "text/plain",
      "multipart/form-data; boundary=;",
      "a",
      ";",
    ]),
    must: badBoundary,
  }),
  "with a changed Content-Type": (random) => {
    const good = Buffer.from(`multipart/form-data; boundary=${boundary}`);
    const at = random.below(good.length);
    good[at] = (good[at] ?? 0) ^ (1 << random.below(7));
    return { body: write(makeParts(random)), contentType: good.toString() };
  },
  "with CRLF left out": (random) => {
    const body = write(makeParts(random));
    const at = body.indexOf("\r\n", random.below(body.length - 2));
    return { body: replaceAt(body, at, at + 1 + random.below(2), "") };
  },
  "with flipped bits": (random) => {
    const body = write(makeParts(random));
    for (let i = 1 + random.below(4); i > 0; i--) {
      const at = random.below(body.length);
      body[at] = (body[at] ?? 0) ^ (1 << random.below(8));
    }
    return { body };
  },
  "with a flipped bit in a boundary or a header": (random) => {
    const body = write(makeParts(random));
    const marks = ["--XbX", "Content-Disposition", "form-data; name", 'name="', "\r\n\r\n"];
    const mark = random.pick(marks);
    const at = Math.max(body.lastIndexOf(mark, random.below(body.length)), 0) + random.below(mark.length);
    body[at] = (body[at] ?? 0) ^ (1 << random.below(8));
    return { body };
  },
  "with bytes put in": (random) => {
    const body = write(makeParts(random));
    const some = [
      "\r\n",
      "\r\n\r\n",
      "--XbX",
      "\r\n--XbX",
      "\r\n--XbX--",
      "\r\n--XbX\r\n",
      '"',
      ";",
      "\\",
      "\0",
      " ",
    ];
    const at = random.below(body.length);
    return { body: replaceAt(body, at, at, random.pick(some)) };
  },
  "with bytes taken out, doubled or moved": (random) => {
    const body = write(makeParts(random));
    const from = random.below(body.length);
    const to = from + random.below(60);
    const slice = body.subarray(from, to);
    const at = random.below(body.length);
    return { body: random.chance(50) ? replaceAt(body, from, to, "") : replaceAt(body, at, at, slice) };
  },
};

/** Whether the body contains everything in the form exactly. */
const isIn = ({ fields, files }: MultipartForm, body: Buffer) =>
  Object.values(fields).every((text) => body.includes(text)) &&
  Object.values(files).every(({ content }) => content.length === 0 || body.includes(content));

test("10,000 broken bodies get the expected error, or a form that they contain", async () => {
  const wrong: unknown[] = [];
  const answers: Record<string, number> = {};
  const kinds = Object.entries(mutations);
  for (let seed = 0; seed < 10_000; seed++) {
    const random = new Random(seed);
    const [kind, mutate] = kinds[seed % kinds.length] as (typeof kinds)[number];
    const { body, contentType, must } = mutate(random);
    const before = process.threadCpuUsage();
    const parsing = parse(body, contentType);
    const answer = await outcome(parsing).catch(String);
    answers[answer] = (answers[answer] ?? 0) + 1;
    const fine = must ? answer === must : [invalid, tooLarge, badBoundary, "parsed"].includes(answer);
    const whole = answer !== "parsed" || isIn(await parsing, body);
    // far under the parser's own time limit: nothing was saved by it
    const quick = process.threadCpuUsage(before).user < 1_000_000;
    if (!fine || !whole || !quick) wrong.push({ seed, kind, must, answer, whole, quick });
  }
  expect(wrong).toEqual([]);
  // every kind of answer occurred, so that the changes are neither all fatal nor all harmless
  for (const answer of [invalid, tooLarge, badBoundary, "parsed"])
    expect(answers[answer]).toBeGreaterThan(100);
  expect(uncaught).toEqual([]);
});

test("hundreds of concurrent forms do not mix", async () => {
  const forms = Array.from({ length: 300 }, (_, i) =>
    parse(write([field("n", `${i}`), file("f", `${i}.txt`, `${i}`.repeat(i))])),
  );
  const numbers = (await Promise.all(forms)).map(({ fields, files }) => [fields.n, files.f?.fileName]);
  expect(numbers).toEqual(forms.map((_, i) => [`${i}`, `${i}.txt`]));
});
