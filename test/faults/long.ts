import { build } from "../../infra/build/build.ts";
import { withCity } from "../bench/temporary-city.ts";
import { killWork } from "./functions.ts";
import { killAtEach, listPoints, loseConnections, startWatchedScene } from "./kill.ts";
import { killRun } from "./notification.ts";
import { losePower } from "./power.ts";
import { startScene } from "./scene.ts";
import { listPairPoints, startPairScene, takeOverAtEach } from "./takeover.ts";
import { crashAlone, crashLeader, cutLeader, loseDatabase, losePlatform, setClock } from "./trial.ts";
import { startWatching } from "./works/stage.ts";
import { works } from "./works/works.ts";

/*
 * The long form of the tests in this folder, which takes some minutes: `npm run test:faults`
 */
const awayMs = 10_000;
const trials = {
  "task killed 20 times, 2,000 sends": () => crashAlone(scene, { messages: 2_000, kills: 20 }),
  "leader of two killed 10 times, 500 sends": () => crashLeader(scene, { messages: 500, kills: 10 }),
  "leader of two cut off 10 times, 500 sends": () => cutLeader(scene, { messages: 500, kills: 10 }),
  "two tasks, database gone for 10 s, 500 sends": () => loseDatabase(scene, { messages: 500, awayMs }),
  "two tasks, platform gone for 10 s, 500 sends": () => losePlatform(scene, { messages: 500, awayMs }),
  "task's clock set by an hour, 500 sends": () => setClock(scene, 500),
  "database's power cut, 500 sends": () => losePower(scene, 500),
};

await build();
const scene = await startScene(20);
// the database would keep running: it is a separate process
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => scene.stop().finally(() => process.exit(1)));

const tell = async (name: string, run: () => Promise<{ readonly wrongs: readonly string[] }>) => {
  const started = performance.now();
  const { wrongs, ...figures } = await run();
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  console.log(`${wrongs.length === 0 ? "good" : "BAD "}  ${name}: ${seconds} s  ${JSON.stringify(figures)}`);
  for (const wrong of wrongs.slice(0, 20)) console.log(`      ${wrong}`);
  if (wrongs.length > 0) process.exitCode = 1;
};

try {
  for (const [name, run] of Object.entries(trials)) await tell(name, run);
} finally {
  await scene.stop();
}

const watched = await startWatchedScene(300);
try {
  await tell("task killed at every write and frame of three sends", async () =>
    killAtEach(watched, await listPoints(watched)),
  );
  await tell("task's connections to the database lost, 300 sends", () => loseConnections(watched, 300));
} finally {
  await watched.stop();
}

const pair = await startPairScene(300);
try {
  await tell("one of two tasks killed at every write and frame of three sends", async () =>
    takeOverAtEach(pair, await listPairPoints(pair)),
  );
} finally {
  await pair.stop();
}

const watching = startWatching();
await withCity(
  50,
  async (city, folder) => {
    for (const { name, create } of works)
      await tell(`${name} killed at every write`, () =>
        killWork(watching.points, create({ city, folder, points: watching.points })),
      );
  },
  { via: watching.via },
);
watching.stop();

const recipients = 10_000;
await withCity(
  1,
  async (city) => {
    for (const kills of [3, 0])
      await tell(`notification run killed ${kills} times, 10,000 recipients`, () =>
        killRun(city, { recipients, kills }),
      );
  },
  { durable: true },
);
// the platform library leaves timers behind
process.exit();
