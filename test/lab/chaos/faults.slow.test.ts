import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Scene, startScene } from "./scene.ts";
import { crashAlone, crashInMoods, loseDatabase, losePlatform } from "./trial.ts";

// the short form of `npm run lab -- chaos`
let scene: Scene;

beforeAll(async () => {
  scene = await startScene(10);
});
afterAll(() => scene.stop());

const good = (accepted: number) => ({ wrongs: [], accepted });

describe("every accepted message arrives once, in order and readable", { timeout: 240_000 }, () => {
  test("when the task is killed at random moments", async () => {
    expect(await crashAlone(scene, { messages: 140, kills: 3 })).toMatchObject(good(140));
  });

  test("when the task is killed while the platform's failure mode changes", async () => {
    expect(await crashInMoods(scene, { messages: 140, kills: 4 })).toMatchObject(good(140));
  });

  test("when the database crashes and recovers", async () => {
    expect(await loseDatabase(scene, { messages: 60, awayMs: 3_000 })).toMatchObject(good(60));
  });

  test("when the platform goes down and comes back", async () => {
    expect(await losePlatform(scene, { messages: 60, awayMs: 3_000 })).toMatchObject(good(60));
  });
});
