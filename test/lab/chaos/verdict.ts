import { setTimeout } from "node:timers/promises";
import type { Load } from "./load.ts";
import type { Scene } from "./scene.ts";

/** What became of a load, and what of it must not be. */
export interface Verdict {
  /** Broken promises, in words; none after a good run. */
  readonly wrongs: readonly string[];
  readonly accepted: number;
  /** Messages that arrived repeatedly with the same id, which a phone shows once. */
  readonly resent: number;
  /** Requests that clients had to make again. */
  readonly repeats: number;
  readonly states: Readonly<Record<string, number>>;
}

const pollMs = 100;

/** Waits until nothing is under way any more. */
export const settle = async (
  { sql }: Pick<Scene, "sql">,
  timeoutMs: number,
): Promise<Record<string, number>> => {
  const until = Date.now() + timeoutMs;
  for (;;) {
    const rows = await sql<{ state: string; count: number }[]>`
      select state, count(*)::int as count from messaging.message group by state`;
    const states = Object.fromEntries(rows.map(({ state, count }) => [state, count]));
    if ((states.PENDING ?? 0) + (states.SENDING ?? 0) === 0 || Date.now() > until) return states;
    await setTimeout(pollMs);
  }
};

const compare = (name: string, wanted: readonly string[], found: readonly string[]) => {
  const missing = wanted.filter((one) => !found.includes(one));
  const twice = found.filter((one, index) => found.indexOf(one) !== index);
  const foreign = found.filter((one) => !wanted.includes(one));
  return [
    ...missing.map((one) => `${name}: never came: ${one}`),
    ...twice.map((one) => `${name}: came twice: ${one}`),
    ...foreign.map((one) => `${name}: nobody was promised: ${one}`),
    ...(missing.length + twice.length + foreign.length === 0 && wanted.join() !== found.join()
      ? [`${name}: came in another order than they were accepted in`]
      : []),
  ];
};

/** Awaits the end of a load and looks at all that was promised. */
export const judge = async (scene: Scene, load: Load, timeoutMs: number): Promise<Verdict> => {
  const { platform, numbers } = scene;
  await load.done;
  await platform.until(() => load.arrived() >= load.accepted.length, timeoutMs).catch(() => {});
  const states = await settle(scene, timeoutMs);
  const wrongs: string[] = [];
  let resent = 0;
  for (const phone of numbers) {
    const accepted = load.accepted.filter((sent) => sent.phone === phone);
    const inbox = load.inboxOf(phone);
    wrongs.push(
      ...compare(
        `${phone}, ids`,
        accepted.map(({ id }) => id),
        inbox.map(({ id }) => id),
      ),
      ...compare(
        `${phone}, texts`,
        accepted.map(({ text }) => text),
        inbox.map(({ text }) => text),
      ),
      ...platform.phone(phone).failures.map(({ id, reason }) => `${phone}: could not read ${id}: ${reason}`),
    );
    resent += inbox.filter(({ arrivals }) => arrivals > 1).length;
  }
  const ended = ["SENT", "DELIVERED", "READ"];
  for (const [state, count] of Object.entries(states))
    if (!ended.includes(state)) wrongs.push(`${count} messages ended as ${state}`);
  const { mostLoggedIn } = platform.sockets;
  if (mostLoggedIn !== 1) wrongs.push(`${mostLoggedIn} sockets were logged in at once`);
  wrongs.push(...platform.faults.map((fault) => `the platform itself failed: ${fault}`));
  return { wrongs, accepted: load.accepted.length, resent, repeats: load.repeats, states };
};
