import type postgres from "postgres";
import type { Channel } from "#lib/channels/channel.ts";
import { steadyNow } from "#lib/deadline.ts";
import type { Obstacle, ObstacleName } from "../outbox/message.ts";
import { type Explained, explainQueue } from "../outbox/next.ts";
import { widths } from "./lanes.ts";
import type { Pacing } from "./pacing.ts";
import { restrictionsAt } from "./restrictions.ts";

/** Lists the conditions of the outbox that delay a message. */
const obstaclesOf = (held: Explained, isOpen: boolean): Obstacle[] => {
  const { isOn, isBehind, notBefore, cause, lane, underWay, isInLine } = held;
  const obstacles: (Obstacle | false)[] = [
    !isOpen && { name: "not-connected" },
    !isOn && { name: "paused" },
    notBefore !== null && { name: cause, until: notBefore },
    isBehind && { name: "order" },
    // a text takes a second, an upload minutes
    underWay >= widths[lane] && (lane !== "other" || !isInLine) && { name: "lane" },
    isInLine && { name: "line" },
  ];
  return obstacles.filter((obstacle) => obstacle !== false);
};

/** Lists what of the pace and of the platform's services delays a message. */
export const limitsOf = (held: Limited, { pacing, channel }: Sending, now: number): Obstacle[] => {
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

/** What of a message the limits depend on. */
export type Limited = Pick<Explained, "phone" | "priority" | "lane" | "isNewContact" | "isReachable">;

export interface Sending {
  readonly account: number;
  readonly pacing: Pacing;
  readonly channel: Pick<Channel, "isOpen" | "directory">;
}

/**
 * Explains why messages wait, by what decides it: the conditions of the outbox, the pace, the lanes and the platform's outages.
 *
 * @returns by id; messages that do not wait, and those of other accounts, are missing.
 */
export const explainWaiting = async (
  sql: postgres.ISql,
  sending: Sending,
  ids: readonly string[],
): Promise<Map<string, readonly Obstacle[]>> => {
  if (ids.length === 0) return new Map();
  const now = steadyNow();
  const rows = await explainQueue(sql, restrictionsAt(sending, now), ids);
  const isOpen = sending.channel.isOpen();
  return new Map(
    rows.map((held) => [held.id, [...obstaclesOf(held, isOpen), ...limitsOf(held, sending, now)]]),
  );
};
