import { setTimeout } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Point, Points } from "../../steps/points.ts";
import { playScenario, watchTask } from "./kill.ts";
import { type Scene, startScene } from "./scene.ts";

const roles = ["leader", "follower"] as const;

/** A point of the task that leads, or of the other one. */
export interface RolePoint extends Point {
  readonly role: (typeof roles)[number];
}

/** A scene of two tasks, each of which crosses points on its own wires. */
export interface PairScene extends Scene {
  readonly pointsBySeat: readonly Points[];
}

/** @param phones each scenario is for another one. */
export const startPairScene = async (phones: number): Promise<PairScene> => {
  const watched = [watchTask(), watchTask()];
  const scene = await startScene(phones, { viaBySeat: watched.map(({ via }) => via) });
  const stop = async () => {
    for (const { points } of watched) points.arm();
    await scene.stop();
    for (const { wires } of watched) for (const wire of wires.values()) wire.stop();
  };
  await scene.fleet.grow(2);
  return { ...scene, pointsBySeat: watched.map(({ points }) => points), stop };
};

const pollMs = 50;

const findSeats = async ({ fleet }: Scene) => {
  for (;;) {
    const leader = fleet.seats()[await fleet.findLeader()];
    if (leader !== undefined) return { leader, follower: 1 - leader };
    await setTimeout(pollMs);
  }
};

/** Plays a scenario whose messages both tasks accept. At a point one is killed, and is away until the end. */
const play = async (scene: PairScene, at?: RolePoint) => {
  const { fleet, pointsBySeat } = scene;
  const seats = await findSeats(scene);
  let restart: (() => Promise<void>) | undefined;
  for (const points of pointsBySeat) points.arm();
  const armed = at && pointsBySeat[seats[at.role]];
  if (at)
    armed?.arm({
      ...at,
      kill: async () => {
        restart = await fleet.crash(fleet.seats().indexOf(seats[at.role]));
      },
    });
  const wrongs = await playScenario(scene);
  const all = roles.flatMap((role) =>
    (pointsBySeat[seats[role]]?.list() ?? []).map((point): RolePoint => ({ role, ...point })),
  );
  for (const points of pointsBySeat) points.disarm();
  await restart?.();
  return { wrongs, all, isKilled: armed?.hasKilled() ?? false };
};

const playWhole = async (scene: PairScene): Promise<RolePoint[]> => {
  const { wrongs, all } = await play(scene);
  if (wrongs.length > 0) throw new Error(wrongs.join("; "));
  return all;
};

/** The points of both tasks that two scenarios without a kill cross: only a first one has some. */
export const listPairPoints = async (scene: PairScene): Promise<RolePoint[]> => {
  const [first, second] = [await playWhole(scene), await playWhole(scene)];
  return first.filter((point) => second.some((other) => isDeepStrictEqual(other, point)));
};

/** Kills one of the tasks at each of the points. @returns what was wrong after which. */
export const takeOverAtEach = async (scene: PairScene, all: readonly RolePoint[]) => {
  const wrongs: string[] = [];
  let killed = 0;
  for (const point of all) {
    const found = await play(scene, point);
    if (found.isKilled) killed += 1;
    wrongs.push(
      ...found.wrongs.map((wrong) => `${point.role} killed ${point.step} (${point.turn}): ${wrong}`),
    );
  }
  return { wrongs, points: all.length, killed };
};
