import type { Point, Points } from "../../steps/points.ts";

/** Something that writes and can be killed. */
export interface Running {
  readonly ended: Promise<unknown>;
  kill(): unknown;
}

/** One program, and what must be true of it wherever it is killed. */
export interface Work {
  /** Starts it, on what `prepare` made. */
  start(): Running;
  prepare?(): Promise<void>;
  /** Runs it again to its end. @returns broken promises, in words. */
  again(): Promise<string[]>;
}

/**
 * Kills the program at each point at which it writes, and repeats it.
 *
 * @param choose of the points; all by default.
 */
export const killWork = async (points: Points, work: Work, choose = (all: readonly Point[]) => all) => {
  await work.prepare?.();
  points.arm();
  await work.start().ended;
  const all = points.list();
  const wrongs: string[] = [];
  let killed = 0;
  const chosen = choose(all);
  for (const point of chosen) {
    await work.prepare?.();
    let running: Running | undefined;
    points.arm({
      ...point,
      kill: async () => {
        running?.kill();
        await running?.ended;
      },
    });
    running = work.start();
    await running.ended;
    if (points.hasKilled()) killed += 1;
    points.disarm();
    const found = await work.again();
    wrongs.push(...found.map((wrong) => `killed ${point.step} (${point.turn}): ${wrong}`));
  }
  return { wrongs, points: all.length, chosen: chosen.length, killed };
};
