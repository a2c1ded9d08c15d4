import { afterAll, beforeAll, expect, test } from "vitest";
import { killAtEach, listPoints, startWatchedScene, type WatchedScene } from "./kill.ts";

// the other points: kill.slow.test.ts and `npm run lab -- chaos`
let scene: WatchedScene;

beforeAll(async () => {
  scene = await startWatchedScene(2);
});
afterAll(() => scene.stop());

test("texts and a file arrive once and in order when the task is killed in the middle of its work", async () => {
  const points = await listPoints(scene);
  const fromMiddle = points.slice(points.length / 2);
  expect(await killAtEach(scene, fromMiddle, 1)).toMatchObject({ wrongs: [], killed: 1 });
});
