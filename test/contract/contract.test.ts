import { describe, test } from "vitest";
import { contract } from "./contract.ts";
import { runningSystem } from "./when.ts";

const system = runningSystem();

describe.each(contract)("$title", ({ cases }) => {
  test.each(cases)("$name", ({ check }) => check(system));
});
