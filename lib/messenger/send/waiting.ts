import type postgres from "postgres";
import { steadyNow } from "#lib/steady-clock.ts";
import type { Channel } from "../channels/channel.ts";
import type { Obstacle, ObstacleName, Waiting } from "../outbox/message.ts";
import { type Held, listHeld, maxAhead } from "../outbox/next.ts";
import { widths } from "./lanes.ts";
import type { Pacing } from "./pacing.ts";
import { restrictionsAt } from "./restrictions.ts";

/** Lists the conditions of the outbox that delay a message. */
const obstaclesOf = (held: Held, isOpen: boolean): Obstacle[] => {
  const { isOn, isBehind, notBefore, cause, lane, underWay, ahead } = held;
  const obstacles: (Obstacle | false)[] = [
    !isOpen && { name: "not-connected" },
    !isOn && { name: "paused" },
    notBefore !== null && { name: cause, until: notBefore },
    isBehind && { name: "order" },
    // a text takes a second, an upload minutes
    underWay >= widths[lane] && (lane !== "other" || ahead === 0) && { name: "lane" },
    ahead > 0 && { name: "line" },
  ];
  return obstacles.filter((obstacle) => obstacle !== false);
};

/** Lists what of the pace and of the platform's services delays a message. */
const limitsOf = (held: Held, { pacing, channel }: Sending, now: number): Obstacle[] => {
  const { outages } = pacing;
  const ofService = (name: ObstacleName, until: number) => (until > now ? [{ name, until }] : []);
  const limits = [
    ...(held.lane === "upload" ? ofService("media-outage", outages.until("media")) : []),
    ...(held.isReachable ? [] : ofService("directory-outage", outages.until("directory"))),
    ...pacing.listObstacles(held, now),
  ];
  const toDate = (at: number) => (Number.isFinite(at) ? new Date(Date.now() + at - now) : undefined);
  return (
    limits
      // without a connection the account is not known either
      .filter(({ name }) => name !== "no-account" || channel.isOpen())
      .map(({ name, until }) => ({ name, until: toDate(until) }))
  );
};

/** Obstacles that end with the messages before, and not by a clock or an operator. */
const ownEnd: readonly ObstacleName[] = ["order", "lane", "line"];
const isEndless = ({ name, until }: Obstacle) => until === undefined && !ownEnd.includes(name);

interface Sending {
  readonly account: number;
  readonly pacing: Pacing;
  readonly channel: Pick<Channel, "isOpen" | "directory">;
}

/**
 * Explains why messages wait, and about when each will be sent, by what decides it: the conditions of the outbox, the pace,
 * the lanes and the platform's outages.
 *
 * @returns by id; messages that do not wait, and those of other accounts, are missing.
 */
export const explainWaiting = async (
  sql: postgres.ISql,
  sending: Sending,
  ids: readonly string[],
): Promise<Map<string, Waiting>> => {
  if (ids.length === 0) return new Map();
  const { pacing, channel } = sending;
  const now = steadyNow();
  const rows = await listHeld(sql, restrictionsAt(sending, now), ids);
  const farthest = Math.max(0, ...rows.map(({ ahead }) => ahead));
  const turns = pacing.forecast(Math.min(farthest + 1, maxAhead), now);
  const explained = rows.map((held): [string, Waiting] => {
    const obstacles = [...obstaclesOf(held, channel.isOpen()), ...limitsOf(held, sending, now)];
    const turn = turns[held.ahead];
    const ends = obstacles.flatMap(({ until }) => until?.getTime() ?? []);
    const isForeseen = turn !== undefined && Number.isFinite(turn) && !obstacles.some(isEndless);
    const at = isForeseen ? new Date(Math.max(Date.now() + turn - now, ...ends)) : undefined;
    return [held.id, { obstacles, ahead: held.ahead, at }];
  });
  return new Map(explained);
};
