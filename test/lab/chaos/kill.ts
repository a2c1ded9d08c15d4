import { setTimeout } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { System, Via } from "../../../infra/local/loopback.ts";
import type { Point } from "../../steps/points.ts";
import { Points, watchDatabase, watchPieces } from "../../steps/points.ts";
import { startWire, type Wire } from "../../steps/wire.ts";
import { Load } from "./load.ts";
import { type Scene, startScene } from "./scene.ts";
import { submit } from "./submit.ts";
import { judge, settle, type Verdict } from "./verdict.ts";

/** A scene whose task crosses points on its wires to the database and the platform. */
export interface WatchedScene extends Scene {
  readonly points: Points;
  /** Loses the open connections to the database, as when its host is replaced; new ones work. */
  loseConnections(): void;
}

/** Wires with the points that a task crosses on them. */
export const watchTask = () => {
  const points = new Points();
  const wires = new Map<System, Wire>();
  const watches = { database: watchDatabase(points), platform: watchPieces(points, "the platform") };
  const via: Via = async (system, port) => {
    const watch = system === "database" || system === "platform" ? watches[system] : {};
    const wire = await startWire(port, watch);
    wires.set(system, wire);
    return wire.port;
  };
  return { points, wires, via };
};

/** @param phones each scenario is for another one, so that all of them are first contacts. */
export const startWatchedScene = async (phones: number): Promise<WatchedScene> => {
  const { points, wires, via } = watchTask();
  const scene = await startScene(phones, { via });
  const stop = async () => {
    points.arm();
    await scene.stop();
    for (const wire of wires.values()) wire.stop();
  };
  return { ...scene, points, stop, loseConnections: () => wires.get("database")?.lose() };
};

const timeoutMs = 30_000;
/** A silent connection closes after 35 to 70 s. */
const lossTimeoutMs = 150_000;
let made = 0;

/** What one phone is to get, in this order. */
const inventScenario = ({ numbers }: Scene) => {
  made += 1;
  const phone = numbers[made % numbers.length] ?? "";
  const name = `scenario ${made}`;
  return {
    phone,
    name,
    messages: ["text", "file", "text"].map((kind, n) => ({ kind, phone, text: `${name}, ${n}` })),
  };
};

/** Submits the scenario and awaits its end. @returns broken promises, in words. */
export const playScenario = async (scene: Scene): Promise<string[]> => {
  const { platform } = scene;
  const { phone: number, messages, name } = inventScenario(scene);
  const phone = platform.phone(number);
  const unreadable = phone.failures.length;
  for (const [index, message] of messages.entries()) await submit(scene, message, { first: index });
  const inbox = () => phone.inbox.filter(({ text }) => text.startsWith(`${name},`));
  await platform.until(() => inbox().length >= messages.length, timeoutMs).catch(() => {});
  const states = await settle(scene, timeoutMs);
  const wanted = messages.map(({ text }) => text).join("; ");
  const found = inbox()
    .map(({ text }) => text)
    .join("; ");
  const failures = phone.failures.slice(unreadable);
  return [
    ...(found === wanted ? [] : [`arrived: ${found}`]),
    ...failures.map(({ reason }) => `could not be read: ${reason}`),
    ...Object.keys(states)
      .filter((state) => !["SENT", "DELIVERED"].includes(state))
      .map((state) => `a message ended as ${state}`),
    ...(platform.sockets.mostLoggedIn > 1 ? [`${platform.sockets.mostLoggedIn} sockets at once`] : []),
  ];
};

/** Plays the scenario, killed at a point or not. @returns broken promises, in words. */
const play = async (scene: WatchedScene, at?: Point): Promise<string[]> => {
  const { points, fleet } = scene;
  const restarted = Promise.withResolvers<void>();
  const kill = async () => {
    const start = await fleet.crash(0);
    // only what is dead may not cross
    void setTimeout(0)
      .then(() => points.disarm())
      .then(start)
      .then(restarted.resolve, restarted.reject);
  };
  points.arm(at && { ...at, kill });
  const wrongs = await playScenario(scene);
  const isKilled = at !== undefined && points.hasKilled();
  if (isKilled) await restarted.promise;
  points.disarm();
  return wrongs;
};

/** The messenger's connections to the database are lost while messages are accepted and sent. */
export const loseConnections = async (scene: WatchedScene, messages: number): Promise<Verdict> => {
  const { platform } = scene;
  const load = new Load(scene, { messages, backlog: 30 });
  await platform.until(() => load.arrived() >= messages / 2, timeoutMs);
  scene.loseConnections();
  return judge(scene, load, lossTimeoutMs);
};

const playWhole = async (scene: WatchedScene): Promise<Point[]> => {
  const wrongs = await play(scene);
  if (wrongs.length > 0) throw new Error(wrongs.join("; "));
  return scene.points.list();
};

/** The points that two runs of the scenario without a kill cross: the first one also crosses those of a first login. */
export const listPoints = async (scene: WatchedScene): Promise<Point[]> => {
  const [first, second] = [await playWhole(scene), await playWhole(scene)];
  return first.filter((point) => second.some((other) => isDeepStrictEqual(other, point)));
};

/**
 * Kills the task once in each stretch of the points: at its first one that this run crosses, as timing decides about some.
 *
 * @param stretches every point by default.
 * @returns what was wrong after which.
 */
export const killAtEach = async (scene: WatchedScene, all: readonly Point[], stretches = all.length) => {
  const wrongs: string[] = [];
  let killed = 0;
  for (let stretch = 0; stretch < stretches; stretch += 1) {
    const edge = (index: number) => Math.floor((index * all.length) / stretches);
    for (const point of all.slice(edge(stretch), edge(stretch + 1))) {
      const found = await play(scene, point);
      wrongs.push(...found.map((wrong) => `killed ${point.step} (${point.turn}): ${wrong}`));
      if (!scene.points.hasKilled()) continue;
      killed += 1;
      break;
    }
  }
  return { wrongs, points: all.length, killed };
};
