import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Workshop } from "../steps/workshop.ts";
import { follow, readRecipe } from "./recipe.ts";

/** Compiles everything, and builds and runs the system of the copy. */
const limitMs = 480_000;
vi.setConfig({ testTimeout: limitMs });

let tree: Workshop;
beforeAll(() => {
  tree = new Workshop();
  for (const step of ["Add an endpoint", "Add a job", "Add a secret"].flatMap(readRecipe)) follow(step, tree);
});
afterAll(() => tree.remove());

test("what the recipes add compiles", async () => expect(await tree.checkTypes()).toBe(""));

test("what the recipes add is complete: the endpoint answers, and no table lacks a row", async () => {
  const files = [
    ...["test/architecture.test.ts", "test/bundles.test.ts", "test/secrets/table.test.ts"],
    ...["test/openapi/document.test.ts", "test/notification/audience.test.ts"],
    ...["test/contract/contract.test.ts", "test/docs/numbers.test.ts"],
    ...["test/aws/alarms.test.ts", "test/aws/capacity.test.ts"],
  ];
  const subjects = [
    ...["category", "the route table", "link-key", "has a reader", "accepts the documents in en"],
    ...["guide to errors", "document-pickup", "security barrier", "generated clients", "guide to growing"],
    ...["threshold", "throttles", "connections than a stage needs"],
  ];
  const { failed, passed } = await tree.test(files, subjects.join("|"), limitMs, 60_000);
  expect(failed).toEqual([]);
  expect(subjects.filter((subject) => !passed.some((name) => name.includes(subject)))).toEqual([]);
});
