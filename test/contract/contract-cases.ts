import { describe, test } from "vitest";
import { contract } from "./contract.ts";
import { lackedBy, type System } from "./system.ts";

/**
 * The contract's cases as tests of one system.
 *
 * @param system a case that needs a credential it lacks fails: whoever starts a city has them all. Without
 * the gateway, the cases about it are left out.
 */
export const testContract = (system: System): void => {
  for (const { title, cases } of contract) {
    const here = cases.filter(({ needs }) => !lackedBy(system, needs).includes("gateway"));
    describe.runIf(here.length > 0)(title, () => {
      test.each(here)("$name", ({ check }) => check(system));
    });
  }
};
