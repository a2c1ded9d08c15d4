import { afterAll, expect, test } from "vitest";
import { useOwnCity } from "../../steps/city/own-city.ts";
import type { Point } from "../../steps/points.ts";
import { killWork } from "./functions.ts";
import { startWatching } from "./works/stage.ts";
import { works } from "./works/works.ts";

// the short form of `npm run lab -- chaos`, which kills at every point
const sample = 3;
/** One of each third; as points before and after a write alternate, some of each kind. */
const pick = (all: readonly Point[]) =>
  Array.from(
    { length: sample },
    (_, third) => Math.floor((third * all.length) / sample) + ((third + 1) % 2),
  ).flatMap((index) => all[index] ?? []);
const { points, via, stop } = startWatching();
const own = useOwnCity(() => ({ messenger: "fake", via }));
afterAll(stop);

test.each(works)("a killed $name $promise", { timeout: 480_000 }, async ({ create, fewest }) => {
  const { city, folder } = own;
  const {
    wrongs,
    points: all,
    chosen,
    killed,
  } = await killWork(points, create({ city, folder, points }), pick);
  expect(wrongs).toEqual([]);
  expect(killed).toBe(chosen);
  expect(all).toBeGreaterThanOrEqual(fewest);
});
