import { expect, test } from "vitest";
import { measureMemory } from "./memory.ts";

test("the messenger's memory is measured, and stays below its container's limit", async () => {
  const uploads = { compressed: 2, plain: 12 };
  const figures = await measureMemory({ messages: 20, recipients: 4, steps: 1, uploads });
  expect(figures.samples.map(({ sent }) => sent)).toEqual([0, 20]);
  expect(Math.max(figures.peakMb, figures.attackPeakMb)).toBeLessThan(512);
});
