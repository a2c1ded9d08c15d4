import { randomBytes } from "node:crypto";
import fc from "fast-check";
import type { Schema } from "#lib/openapi/schema.ts";

/** Stands in many inputs of a run; no log may contain it. */
export const marker = `planted${randomBytes(8).toString("hex")}`;

const patterned = ({ pattern, minLength = 0, maxLength = 300 }: Schema): fc.Arbitrary<string> => {
  const most = Math.min(Number(maxLength), 300);
  return typeof pattern === "string"
    ? fc.stringMatching(new RegExp(pattern, "u")).map((text) => text.slice(0, most))
    : fc.string({ unit: "grapheme", minLength: Number(minLength), maxLength: most });
};

/** Values that a JSON Schema allows, as far as the product's schemas use it. */
export const allowedBy = (schema: Schema): fc.Arbitrary<unknown> => {
  if ("const" in schema) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  const { type, minimum, maximum } = schema;
  switch (type) {
    case "integer":
      return fc
        .maxSafeInteger()
        .map((n) => Math.min(Math.max(n, Number(minimum ?? n)), Number(maximum ?? n)));
    case "boolean":
      return fc.boolean();
    case "string":
      return patterned(schema);
    default:
      return fc.jsonValue();
  }
};

/** Texts that have broken parsers, databases, logs and terminals before. */
const known = [
  ...[
    "",
    " ",
    "\0",
    "\ud800",
    "\ufeff",
    "\u202e",
    "\u2028",
    "e\u0301\u0301\u0301",
    "ﬃ",
    "İ",
    "😀".repeat(99),
  ],
  ...["'", "';select pg_sleep(9)--", "' or '1'='1", "\\", "%", "_", "$1", "\\x00", '{"$ne":null}'],
  ...[
    "../../../../../etc/passwd",
    "..%2f..%2f",
    "file:///etc/passwd",
    "http://127.0.0.1:1/",
    "http://[::1]/",
  ],
  ...["http://169.254.169.254/latest/", "http://2130706433/", "http://a@127.0.0.1/", "gopher://127.0.0.1/"],
  ...[
    "<script>alert(1)</script>",
    "{{7*7}}",
    "\x24{7*7}",
    "%{7*7}",
    "\r\nX-Injected: 1",
    "\u001b[2J",
    "%0d%0a",
  ],
  ...["__proto__", "constructor", "toString", "null", "undefined", "NaN", "true", "[]", "{}"],
  ...["0", "-1", "1e309", "0x10", "9".repeat(400), "٣٣٣", "１２", "1.0", "+1", "9007199254740993"],
  ...["a".repeat(70_000), "(".repeat(5_000), "a,".repeat(5_000)],
];

/** Texts that nobody should send, some of them with the marker. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...known) },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 200 }) },
  { weight: 2, arbitrary: fc.string({ maxLength: 40 }).map((text) => `${text}${marker}${text}`) },
  { weight: 1, arbitrary: fc.constant(marker) },
);

/** JSON values of any type and shape. */
export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: hostileText },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 4 }) },
  { weight: 1, arbitrary: fc.double() },
  { weight: 1, arbitrary: fc.array(hostileText, { maxLength: 3 }) },
);

/** Replaces what an HTTP client does not send in a header. */
export const forHeader = (text: string): string =>
  text.replace(/[^\t\x20-\x7e\xa0-\xff]/g, "?").slice(0, 2_000);

export const headerText: fc.Arbitrary<string> = hostileText.map(forHeader);

/** Names of fields that the schema does not have. */
export const strangeName = fc.constantFrom(
  "__proto__",
  "constructor",
  "toString",
  "",
  "a[b]",
  "length",
  marker,
);
