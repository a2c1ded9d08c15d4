import { expect, test } from "vitest";
import { compareMeasure, measureOf } from "./result.ts";

test("a measure has a median and the quarters around it", () =>
  expect(measureOf([5, 1, 3, 2, 4])).toEqual({ median: 3, low: 2, high: 4 }));

test("a measure has changed when its spread is outside of the one before", () => {
  const before = { median: 3, low: 2, high: 4 };
  const changes = [measureOf([4.1, 5, 6]), measureOf([3, 4, 5]), measureOf([1, 1.5, 1.9])];
  expect(changes.map((now) => compareMeasure(now, before))).toEqual(["worse", "same", "better"]);
  expect(compareMeasure(before, undefined)).toBe("new");
});
