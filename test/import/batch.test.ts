import { expect, test } from "vitest";
import { Batch } from "#lib/import/batch.ts";

test("values come back from a batch as they went in, whatever characters they have", () => {
  const odd = [
    ["a\tb", "c\\d", "e\nf\r"],
    ["\\N", null, ""],
    ["\\\\t", "\u2028é😀", "t\\"],
  ];
  expect([...Batch.of(odd.map((values) => ({ values })))]).toEqual(odd.map((values) => ({ values })));
});
