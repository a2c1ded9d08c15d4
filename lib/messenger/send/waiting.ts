import type postgres from "postgres";
import { steadyNow } from "#lib/steady-clock.ts";
import type { Obstacle, Waiting } from "../outbox/message.ts";
import { type Held, listHeld } from "../outbox/next.ts";
import type { Pacing } from "./pacing.ts";

/** A day and a half at the full rate. What is farther away changes before it is sent. */
const maxForecast = 2_000;

const obstaclesOf = (held: Held, isOpen: boolean, pacing: Pacing, now: number): Obstacle[] => {
  const { isOn, isBehind, notBefore, isQuiet, ahead } = held;
  const toDate = (at: number) =>
    Number.isFinite(at) ? new Date(Date.now() + Math.max(0, at - now)) : undefined;
  const ofPace = pacing.listObstacles(held, now).map(({ name, until }) => ({ name, until: toDate(until) }));
  const ofOutbox: (Obstacle | false)[] = [
    !isOpen && { name: "not-connected" },
    !isOn && { name: "paused" },
    notBefore !== null && { name: isQuiet ? "quiet-hours" : "retry", until: notBefore },
    isBehind && { name: "order" },
    ahead > 0 && { name: "line" },
  ];
  // without a connection the account is not known either
  const known = isOpen ? ofPace : ofPace.filter(({ name }) => name !== "no-account");
  return [...ofOutbox.filter((obstacle) => obstacle !== false), ...known];
};

/** Obstacles whose end no clock knows. `order` and `line` end with the messages before. */
const isEndless = ({ name, until }: Obstacle) => until === undefined && name !== "order" && name !== "line";

/**
 * Explains why messages wait, and about when each will be sent, by what decides it: the conditions of the outbox and the
 * pace.
 *
 * @returns by id; messages that do not wait are missing.
 */
export const explainWaiting = async (
  sql: postgres.ISql,
  { pacing, isOpen }: { readonly pacing: Pacing; readonly isOpen: boolean },
  ids: readonly string[],
): Promise<Map<string, Waiting>> => {
  if (ids.length === 0) return new Map();
  const now = steadyNow();
  const limits = {
    resting: pacing.coolingDown(now),
    account: pacing.account ?? "",
    newContactsUpTo: pacing.newContactsUpTo(now),
  };
  const rows = await listHeld(sql, limits, ids);
  const farthest = Math.max(0, ...rows.map(({ ahead }) => ahead));
  const turns = pacing.forecast(Math.min(farthest + 1, maxForecast), now);
  const explained = rows.map((held): [string, Waiting] => {
    const obstacles = obstaclesOf(held, isOpen, pacing, now);
    const turn = turns[held.ahead];
    const ends = obstacles.flatMap(({ until }) => until?.getTime() ?? []);
    const isKnown = turn !== undefined && Number.isFinite(turn) && !obstacles.some(isEndless);
    const at = isKnown ? new Date(Math.max(Date.now() + turn - now, ...ends)) : undefined;
    return [held.id, { obstacles, ahead: held.ahead, at }];
  });
  return new Map(explained);
};
