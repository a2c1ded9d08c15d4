import { build } from "../../../infra/build/build.ts";
import { command, exitCodes, WrongCall } from "../../../infra/cli/command.ts";
import { withCity } from "../../steps/temporary-city.ts";
import { killWork } from "./functions.ts";
import { killAtEach, listPoints, loseConnections, startWatchedScene } from "./kill.ts";
import { killRun } from "./notification.ts";
import { losePower } from "./power.ts";
import { type Scene, startScene } from "./scene.ts";
import { listPairPoints, startPairScene, takeOverAtEach } from "./takeover.ts";
import {
  crashAlone,
  crashInMoods,
  crashLeader,
  cutLeader,
  loseDatabase,
  losePlatform,
  setClock,
} from "./trial.ts";
import { startWatching } from "./works/stage.ts";
import { works } from "./works/works.ts";

const awayMs = 10_000;

const outcomes: { name: string; wrongs: readonly string[]; figures: object }[] = [];
const failed = () => outcomes.some(({ wrongs }) => wrongs.length > 0);

const tell = async (name: string, run: () => Promise<{ readonly wrongs: readonly string[] }>) => {
  const started = performance.now();
  const { wrongs, ...figures } = await run().catch((error: Error) => ({ wrongs: [error.message] }));
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  console.error(
    `${wrongs.length === 0 ? "good" : "BAD "}  ${name}: ${seconds} s  ${JSON.stringify(figures)}`,
  );
  for (const wrong of wrongs.slice(0, 20)) console.error(`      ${wrong}`);
  outcomes.push({ name, wrongs, figures });
};

/** Runs work in a scene. After a signal too, the scene stops: its database is another process that would keep running. */
const within = async <S extends Pick<Scene, "stop">>(scene: S, work: (scene: S) => Promise<void>) => {
  const stop = () => scene.stop().finally(() => process.exit(1));
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.once(signal, stop);
  try {
    await work(scene);
  } finally {
    for (const signal of signals) process.off(signal, stop);
    await scene.stop();
  }
};

const parts: Readonly<Record<string, () => Promise<void>>> = {
  messenger: async () =>
    within(await startScene(20), async (scene) => {
      const trials = {
        "task killed 20 times, 2,000 sends": () => crashAlone(scene, { messages: 2_000, kills: 20 }),
        "task killed 20 times, the platform's failure mode changed each time, 1,000 sends": () =>
          crashInMoods(scene, { messages: 1_000, kills: 20 }),
        "leader of two killed 10 times, 500 sends": () => crashLeader(scene, { messages: 500, kills: 10 }),
        "leader of two cut off 10 times, 500 sends": () => cutLeader(scene, { messages: 500, kills: 10 }),
        "two tasks, database gone for 10 s, 500 sends": () => loseDatabase(scene, { messages: 500, awayMs }),
        "two tasks, platform gone for 10 s, 500 sends": () => losePlatform(scene, { messages: 500, awayMs }),
        "task's clock set by an hour, 500 sends": () => setClock(scene, 500),
        "database's power cut, 500 sends": () => losePower(scene, 500),
      };
      for (const [name, run] of Object.entries(trials)) await tell(name, run);
    }),
  points: async () =>
    within(await startWatchedScene(300), async (scene) => {
      await tell("task killed at every write and frame of three sends", async () =>
        killAtEach(scene, await listPoints(scene)),
      );
      await tell("task's connections to the database lost, 300 sends", () => loseConnections(scene, 300));
    }),
  takeover: async () =>
    within(await startPairScene(300), (scene) =>
      tell("one of two tasks killed at every write and frame of three sends", async () =>
        takeOverAtEach(scene, await listPairPoints(scene)),
      ),
    ),
  functions: async () => {
    const { points, via, stop } = startWatching();
    await withCity(
      50,
      async (city, folder) => {
        for (const { name, create } of works)
          await tell(`${name} killed at every write`, () =>
            killWork(points, create({ city, folder, points })),
          );
      },
      { via },
    );
    stop();
  },
  notifications: () =>
    withCity(
      1,
      async (city) => {
        for (const kills of [3, 0])
          await tell(`notification run killed ${kills} times, 10,000 recipients`, () =>
            killRun(city, { recipients: 10_000, kills }),
          );
      },
      { durable: true },
    ),
};

const readParts = (name: string, earlier: readonly string[] = []): string[] => {
  if (Object.hasOwn(parts, name)) return [...earlier, name];
  throw new WrongCall(`Unknown part: ${name}. Use ${Object.keys(parts).join(", ")}.`);
};

export const run = command(
  "lab -- chaos",
  "Run the long form of the tests in test/lab/chaos, about an hour for all.",
  (program, answer) => {
    program.argument("[part...]", Object.keys(parts).join(", "), readParts).action(
      answer(async (chosen = Object.keys(parts)) => {
        await build();
        for (const name of chosen) await parts[name]?.();
        return { text: "", json: outcomes, code: failed() ? exitCodes.partly : exitCodes.done };
      }),
    );
  },
);
