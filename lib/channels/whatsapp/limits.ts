import type { NewChatMessageCapInfo, ReachoutTimelockState, WASocket } from "baileys";
import type { Limits } from "../channel.ts";

/** Of a lock without an end. */
const defaultLockMs = 60 * 60_000;

const lockOf = ({ isActive, timeEnforcementEnds: end }: ReachoutTimelockState): Limits => {
  if (!isActive) return { lockedUntil: null };
  // for an announcement without an end baileys makes up one after 60 s: the platform's own are whole seconds
  if (end && end.getTime() % 1_000 !== 0)
    return { lockedUntil: new Date(Date.now() + defaultLockMs), isEndUnknown: true };
  // an end that is absent, unreadable or over ends no active lock
  return { lockedUntil: end && end.getTime() > Date.now() ? end : new Date(Date.now() + defaultLockMs) };
};

/** An account without a cap has a quota of -1, or none. */
const capOf = (info: NewChatMessageCapInfo | null): Limits => {
  const { total_quota, used_quota, cycle_end_timestamp: end } = info ?? {};
  const [total, used] = [Number(total_quota ?? -1), Number(used_quota ?? 0)];
  const endsAt = new Date(Number(end) * 1_000);
  if (!(total >= 0) || !(used >= 0) || Number.isNaN(endsAt.getTime())) return { cap: null };
  return { cap: { total, used: info?.capping_status === "CAPPED" ? Math.max(total, used) : used, endsAt } };
};

/** Queries the limits for new contacts. @throws when the platform answers neither query. */
export const fetchLimits = async (socket: WASocket): Promise<Limits> => {
  const lock = socket.fetchAccountReachoutTimelock().then(lockOf);
  const cap = socket.fetchNewChatMessageCap().then(capOf);
  const [first, second] = await Promise.allSettled([lock, cap]);
  if (first.status === "rejected" && second.status === "rejected") throw first.reason;
  return {
    ...(first.status === "fulfilled" && first.value),
    ...(second.status === "fulfilled" && second.value),
  };
};

/** Reports the limits that the platform announces. */
export const watchLimits = ({ ev }: WASocket, onLimits: (limits: Limits) => void): void => {
  ev.on("connection.update", ({ reachoutTimeLock }) => {
    if (reachoutTimeLock) onLimits(lockOf(reachoutTimeLock));
  });
  ev.on("message-capping.update", (info) => onLimits(capOf(info)));
};
