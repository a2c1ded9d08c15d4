import { expect, test } from "vitest";
import { listUnexpected } from "./life/allowed.ts";
import { lifeOf, usual } from "./life/configurations.ts";

// the other configurations and changes: life-cycle.slow.test.ts
test("the usual production stage: a first deployment can fail at any resource, and be repeated", () => {
  const life = lifeOf("prod");
  life.failAndRetry(usual);
  expect(listUnexpected(life.take())).toEqual([]);
});

test("the usual production stage: the stacks without data can be destroyed, and created again", () => {
  const life = lifeOf("prod");
  life.destroyAndCreate(usual, ["network", "data"]);
  expect(listUnexpected(life.take())).toEqual([]);
});
