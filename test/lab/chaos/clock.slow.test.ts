import { afterAll, beforeAll, expect, test } from "vitest";
import { type Scene, startScene } from "./scene.ts";
import { setClock } from "./trial.ts";

// the short form of `npm run lab -- chaos`
let scene: Scene;

beforeAll(async () => {
  scene = await startScene(10);
});
afterAll(() => scene.stop());

test("every accepted message arrives once and in order while the task's clock jumps by an hour", {
  timeout: 240_000,
}, async () => {
  expect(await setClock(scene, 120)).toMatchObject({ wrongs: [], accepted: 120 });
});
