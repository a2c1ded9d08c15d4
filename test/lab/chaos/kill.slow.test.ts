import { afterAll, beforeAll, expect, test } from "vitest";
import { killAtEach, listPoints, startWatchedScene, type WatchedScene } from "./kill.ts";

// the short form of `npm run lab -- chaos`, which kills at every point
const sample = 6;
let scene: WatchedScene;

beforeAll(async () => {
  scene = await startWatchedScene(2 * sample);
});
afterAll(() => scene.stop());

test("texts and files arrive once and in order when the task is killed around a write or a frame", {
  timeout: 360_000,
}, async () => {
  const points = await listPoints(scene);
  expect(points.length).toBeGreaterThan(4 * sample);
  expect(await killAtEach(scene, points, sample)).toMatchObject({ wrongs: [], killed: sample });
});
