import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Scene, startScene } from "./scene.ts";
import { crashLeader, cutLeader } from "./trial.ts";

// the short form of `npm run lab -- chaos`
let scene: Scene;

beforeAll(async () => {
  scene = await startScene(10);
});
afterAll(() => scene.stop());

const good = (accepted: number) => ({ wrongs: [], accepted });

describe("every accepted message of two tasks arrives once, in order and readable, never with two sockets", {
  timeout: 240_000,
}, () => {
  test("when the leader is killed", async () => {
    expect(await crashLeader(scene, { messages: 80, kills: 2 })).toMatchObject(good(80));
  });

  test("when the leader loses its lock", async () => {
    expect(await cutLeader(scene, { messages: 80, kills: 2 })).toMatchObject(good(80));
  });
});
