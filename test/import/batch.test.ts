import { expect, test } from "vitest";
import { Batch } from "#lib/import/batch.ts";

test("a batch returns its values unchanged, with any characters", () => {
  const odd = [
    ["a\tb", "c\\d", "e\nf\r"],
    ["\\N", null, ""],
    ["\\\\t", "\u2028é😀", "t\\"],
  ];
  expect([...Batch.of(odd.map((values) => ({ values })))]).toEqual(odd.map((values) => ({ values })));
});

test("the text for COPY has no control character but those between values and rows", () => {
  const { text } = Batch.of([{ values: ["a\tb\\", "c\rd", "e\nf"] }, { values: ["g", "h", "i"] }]);
  expect(Buffer.concat([...text]).toString()).toBe("a\\tb\\\\\tc\\rd\te\\nf\ng\th\ti\n");
});
