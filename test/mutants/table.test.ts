import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { applyMutant } from "./mutant.ts";
import { table } from "./table.ts";

describe.each(Object.entries(table))("the mutants of %s", (_, mutants) => {
  test.each(mutants)("have a pattern that fits the code, and tests: $breaks", (mutant) => {
    const text = readFileSync(mutant.file, "utf8");
    expect(applyMutant(mutant, text)).not.toBe(text);
    expect(mutant.tests.filter((file) => !existsSync(file))).toEqual([]);
  });
});
