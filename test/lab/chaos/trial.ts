import { setTimeout } from "node:timers/promises";
import type { FailureModes } from "../../../infra/local/whatsapp/behaviour.ts";
import { Load } from "./load.ts";
import type { Scene } from "./scene.ts";
import { judge, type Verdict } from "./verdict.ts";

export interface Outage {
  readonly messages: number;
  readonly awayMs: number;
}

export interface Crashes {
  readonly messages: number;
  readonly kills: number;
}

/** A verdict over kills, with the time from each kill to the next message that arrived. */
export interface CrashVerdict extends Verdict {
  readonly recoveriesMs: readonly number[];
}

const timeoutMs = 90_000;
const backlog = 30;
const burst = 20;
/** Longer than one send takes, so that every moment of it is met. */
const mostDelayMs = 60;

/** Awaits the next message that no phone had before. */
const untilNext = async ({ platform }: Scene, load: Load): Promise<number> => {
  const started = performance.now();
  const before = load.arrived();
  await platform.until(() => load.arrived() > before, timeoutMs);
  return Math.round(performance.now() - started);
};

/**
 * Kills tasks at random moments, evenly over a stream of messages.
 *
 * @param hit harms one, and returns what makes up for it.
 */
const spread = async (
  scene: Scene,
  { messages, kills }: Crashes,
  hit: () => Promise<() => Promise<void>>,
) => {
  const { platform } = scene;
  const load = new Load(scene, { messages, backlog });
  const recoveriesMs: number[] = [];
  // the last messages are left to the last recovery
  const stretch = (messages - backlog - 2 * burst) / kills;
  for (let kill = 0; kill < kills; kill++) {
    const threshold = Math.floor((kill + Math.random()) * stretch);
    await platform.until(() => load.arrived() >= threshold, timeoutMs);
    // so that submissions are under way too
    load.hurry(burst);
    await untilNext(scene, load);
    // every second kill happens right after a message arrived, before its task knows
    if (kill % 2 === 1) await setTimeout(Math.random() * mostDelayMs);
    const recover = await hit();
    const [, recoveryMs] = await Promise.all([recover(), untilNext(scene, load)]);
    recoveriesMs.push(recoveryMs);
    load.hurry(-burst);
  }
  return { ...(await judge(scene, load, timeoutMs)), recoveriesMs };
};

/** One task, killed at random moments. */
export const crashAlone = async (scene: Scene, crashes: Crashes): Promise<CrashVerdict> => {
  await scene.fleet.grow(1);
  return spread(scene, crashes, () => scene.fleet.crash(0));
};

/** All of them end: every message arrives. */
const failureModes: readonly FailureModes[] = [
  {},
  { contacts: { reachedBy: "lid" } },
  { contacts: { reachedBy: "number" } },
  { contacts: { receiptsFrom: "other" } },
  { nack: { code: 429, messages: 2 } },
  { nack: { code: 503, messages: 2 } },
  { stale: { code: 421 } },
  { stale: { code: 479 } },
  { dropBeforeAck: 1 },
  { dropUndelivered: 1 },
  { ackDelayMs: 200, receiptsBeforeAck: true },
  { tokens: {} },
  { askAgain: 2 },
  { oneTimeKeys: false },
  { mediaHosts: [503, 200] },
  { mediaHosts: ["unreachable", 500, 200] },
  { expireMediaAuth: 1 },
  { failMediaConn: 1 },
];
const closings = ["drop", 428, 500, 503, 515] as const;

const pick = <T>(all: readonly T[]): T => all[Math.floor(Math.random() * all.length)] as T;

/** One task, killed at random moments, whose platform has another failure mode after each and closes the connection in between. */
export const crashInMoods = async (scene: Scene, crashes: Crashes): Promise<CrashVerdict> => {
  const { platform, fleet } = scene;
  await fleet.grow(1);
  const verdict = await spread(scene, crashes, async () => {
    platform.behave({ receipts: ["delivered"], ...pick(failureModes) });
    const restart = await fleet.crash(0);
    return async () => {
      await restart();
      await platform.until(() => platform.sockets.loggedIn === 1, timeoutMs);
      platform.disconnect(pick(closings));
    };
  });
  platform.behave({ receipts: ["delivered"] });
  return verdict;
};

/** Two tasks, of which the one that leads is killed. */
export const crashLeader = async (scene: Scene, crashes: Crashes): Promise<CrashVerdict> => {
  const { fleet } = scene;
  await fleet.grow(2);
  return spread(scene, crashes, async () => {
    const leader = await fleet.findLeader();
    return fleet.crash(Math.max(leader, 0));
  });
};

/** Two tasks, of which the one that leads is cut off from the lock that says so. */
export const cutLeader = async (scene: Scene, crashes: Crashes): Promise<CrashVerdict> => {
  const { fleet, sql } = scene;
  await fleet.grow(2);
  // a role may terminate its own connections
  return spread(scene, crashes, async () => {
    await sql`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted`;
    return async () => {};
  });
};

/** The database crashes while messages are accepted and sent, and is unavailable for a while. */
export const loseDatabase = async (scene: Scene, { messages, awayMs }: Outage): Promise<Verdict> => {
  const { platform, database } = scene;
  const load = new Load(scene, { messages, backlog });
  await platform.until(() => load.arrived() >= messages / 10, timeoutMs);
  load.hurry(burst);
  await untilNext(scene, load);
  await database.server.stop("immediate");
  await setTimeout(awayMs);
  await database.server.start();
  return judge(scene, load, timeoutMs);
};

/** The task's clock is set forth an hour, back two, and right again. */
export const setClock = async (scene: Scene, messages: number): Promise<Verdict> => {
  const { platform, fleet } = scene;
  await fleet.grow(1);
  const load = new Load(scene, { messages, backlog });
  for (const quarter of [1, 2, 3]) {
    await platform.until(() => load.arrived() >= (quarter * messages) / 4 - backlog / 2, timeoutMs);
    fleet.setClock();
  }
  return judge(scene, load, timeoutMs);
};

/** The platform goes down while messages are accepted and sent. */
export const losePlatform = async (scene: Scene, { messages, awayMs }: Outage): Promise<Verdict> => {
  const { platform } = scene;
  const load = new Load(scene, { messages });
  await platform.until(() => load.arrived() >= messages / 10, timeoutMs);
  platform.leave(awayMs);
  return judge(scene, load, timeoutMs);
};
