import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { applyMutant, type Mutant } from "./mutant.ts";
import { table } from "./table.ts";

const findFault = (mutant: Mutant): string | undefined => {
  if (!existsSync(mutant.file)) return `${mutant.file} does not exist: «${mutant.breaks}»`;
  try {
    if (applyMutant(mutant, readFileSync(mutant.file, "utf8")) === readFileSync(mutant.file, "utf8"))
      return `${mutant.file}: «${mutant.breaks}» changes nothing`;
  } catch (error) {
    return (error as Error).message;
  }
  return mutant.tests.find((file) => !existsSync(file))?.concat(` does not exist: «${mutant.breaks}»`);
};

test.each(Object.entries(table))(
  "the mutants of %s have patterns that fit the code, and tests",
  (_, mutants) => {
    expect(mutants.length).toBeGreaterThan(0);
    expect(mutants.flatMap((mutant) => findFault(mutant) ?? [])).toEqual([]);
  },
);
