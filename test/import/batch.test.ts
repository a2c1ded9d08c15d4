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
