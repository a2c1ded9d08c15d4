import { afterAll, beforeAll, expect, test } from "vitest";
import { countLost, losePower } from "./power.ts";
import { type Scene, startScene } from "./scene.ts";

// the short form of `npm run lab -- chaos`
let scene: Scene;

beforeAll(async () => {
  scene = await startScene(10);
});
afterAll(() => scene.stop());

test("every accepted message arrives once, in order and readable when the database's power is cut", {
  timeout: 240_000,
}, async () => {
  expect(await losePower(scene, 80)).toMatchObject({ wrongs: [], accepted: 80 });
});

test("a power cut loses no accepted message; it would if commits did not wait for the disk", async () => {
  expect(await countLost(scene, 40, "on")).toBe(0);
  expect(await countLost(scene, 40, "off")).toBeGreaterThan(0);
});
