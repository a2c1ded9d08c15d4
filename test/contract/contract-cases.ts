import { describe, test } from "vitest";
import { contract } from "./contract.ts";
import { missingNeeds, type System } from "./system.ts";

/**
 * The contract's cases as tests of one system.
 *
 * @param system must have every credential: a case whose credential is missing fails. Without the gateway, the cases
 * about the gateway are left out.
 */
export const testContract = (system: System): void => {
  for (const { title, cases } of contract) {
    const here = cases.filter(({ needs }) => !missingNeeds(system, needs).includes("gateway"));
    describe.runIf(here.length > 0)(title, () => {
      test.each(here)("$name", ({ check }) => check(system));
    });
  }
};
