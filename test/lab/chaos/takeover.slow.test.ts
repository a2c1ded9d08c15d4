import { afterAll, beforeAll, expect, test } from "vitest";
import { listPairPoints, type PairScene, startPairScene, takeOverAtEach } from "./takeover.ts";

// the short form of `npm run lab -- chaos`, which kills at every point
let scene: PairScene;

beforeAll(async () => {
  scene = await startPairScene(6);
});
afterAll(() => scene.stop());

test("texts and files arrive once and in order when one of two tasks is killed within a send", {
  timeout: 360_000,
}, async () => {
  const points = await listPairPoints(scene);
  // before it is sent, and sent but not recorded
  const chosen = ["after insert into messaging.payload", "before update messaging.message set state"].flatMap(
    (step) => points.find((point) => point.role === "leader" && point.step.startsWith(step)) ?? [],
  );
  const { wrongs, killed } = await takeOverAtEach(scene, chosen);
  expect(wrongs).toEqual([]);
  expect(killed).toBe(2);
});
