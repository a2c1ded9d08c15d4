import { setTimeout } from "node:timers/promises";
import type postgres from "postgres";
import type { Channel, Limits } from "#lib/channels/channel.ts";
import { deadline, steadyNow } from "#lib/deadline.ts";
import { log } from "#lib/log.ts";
import { retryUntilDone } from "../outbox/retry.ts";
import type { Wakeup } from "../outbox/wakeup.ts";
import { loadHistory } from "./history.ts";
import type { Pacing } from "./pacing.ts";

const askEveryMs = 60 * 60_000;
/** How long new contacts after a login, or all messages after a rejection, wait for the platform to answer for its limits. */
const maxAnswerMs = 5_000;

export interface LimitOptions {
  readonly sql: postgres.Sql;
  readonly channel: Pick<Channel, "fetchLimits" | "isOpen">;
  readonly pacing: Pacing;
  readonly signal: AbortSignal;
}

const secondsUntil = (at: Date): number => (at.getTime() - Date.now()) / 1_000;

/** Stores what the platform says about the account's limits, so that the next leader observes them too. */
const store = async (sql: postgres.Sql, number: string, { lockedUntil, cap }: Limits): Promise<void> => {
  const lockSeconds = lockedUntil ? secondsUntil(lockedUntil) : null;
  const capSeconds = cap ? secondsUntil(cap.endsAt) : null;
  await sql`
    insert into messaging.number as known
      (phone, locked_until, locked_at, cap_total, cap_used, cap_ends_at, capped_at) values (
      ${number}, now() + ${lockSeconds}::float8 * interval '1 second', now(),
      ${cap?.total ?? null}, ${cap?.used ?? null}, now() + ${capSeconds}::float8 * interval '1 second', now())
    on conflict (phone) do update set
      locked_until = case when ${lockedUntil !== undefined} then excluded.locked_until else known.locked_until end,
      locked_at = case when known.locked_until > now() then known.locked_at else now() end,
      cap_total = case when ${cap !== undefined} then excluded.cap_total else known.cap_total end,
      cap_used = case when ${cap !== undefined} then excluded.cap_used else known.cap_used end,
      cap_ends_at = case when ${cap !== undefined} then excluded.cap_ends_at else known.cap_ends_at end,
      capped_at = case when ${cap !== undefined} then excluded.capped_at else known.capped_at end`;
};

/** Observes the account's limits from now on. */
const learnLimits = async (options: LimitOptions, limits: Limits): Promise<void> => {
  const { sql, pacing, signal } = options;
  const { number } = pacing;
  // what is announced before the account is known will be queried
  if (number === undefined) return;
  const now = steadyNow();
  const { lockedUntil, cap } = limits;
  if (lockedUntil !== undefined)
    pacing.lockNewContacts(lockedUntil ? now + secondsUntil(lockedUntil) * 1_000 : 0);
  if (cap !== undefined)
    pacing.capNewContacts(cap && { ...cap, endsAt: now + secondsUntil(cap.endsAt) * 1_000 });
  await retryUntilDone(() => store(sql, number, limits), signal);
  if (limits.isEndUnknown) await askLimits(options);
};

/** Observes what the platform announces. For a lock that may be the answer to a query, too: Baileys reports both alike. */
export const learnAnnouncement = (options: LimitOptions, announced: Limits): Promise<void> => {
  if (announced.lockedUntil !== undefined) options.pacing.announcedLocks += 1;
  if (announced.cap !== undefined) options.pacing.announcedCaps += 1;
  return learnLimits(options, announced);
};

/** Queries the account's limits and observes them. @returns undefined when the platform does not answer. */
export const askLimits = async (options: LimitOptions): Promise<Limits | undefined> => {
  try {
    const { announcedLocks, announcedCaps } = options.pacing;
    const { cap, lockedUntil } = await deadline(
      options.channel.fetchLimits?.() ?? Promise.resolve<Limits>({}),
      maxAnswerMs,
    );
    // what was announced meanwhile is newer than this answer
    const isLockNew = lockedUntil !== undefined && options.pacing.announcedLocks === announcedLocks;
    const isCapNew = cap !== undefined && options.pacing.announcedCaps === announcedCaps;
    const newCap = isCapNew ? { cap } : {};
    await learnLimits(options, { ...(isLockNew && { lockedUntil }), ...newCap });
    return { ...(lockedUntil !== undefined && { lockedUntil }), ...newCap };
  } catch (error) {
    log.warn("the platform does not answer for the limits of the account", { error });
    return undefined;
  }
};

/** Pauses new contacts for a time, also for the next leader. */
export const pauseNewContacts = async (
  { sql, pacing, signal }: LimitOptions,
  seconds: number,
): Promise<void> => {
  pacing.pauseNewContacts(steadyNow() + seconds * 1_000);
  const { number = "" } = pacing;
  await retryUntilDone(
    () => sql`
      insert into messaging.number as known (phone, paused_until, paused_at)
      values (${number}, now() + ${seconds} * interval '1 second', now())
      on conflict (phone) do update set paused_until = greatest(known.paused_until, excluded.paused_until),
        paused_at = case when known.paused_until > now() then known.paused_at else now() end`,
    signal,
  );
};

/** Sends nothing for a time, nor does the next leader. */
export const stopSending = async ({ sql, pacing, signal }: LimitOptions, seconds: number): Promise<void> => {
  pacing.stopAll(steadyNow() + seconds * 1_000);
  const { number = "" } = pacing;
  await retryUntilDone(
    () => sql`
      insert into messaging.number as known (phone, stopped_until, stopped_at)
      values (${number}, now() + ${seconds} * interval '1 second', now())
      on conflict (phone) do update set stopped_until = greatest(known.stopped_until, excluded.stopped_until),
        stopped_at = case when known.stopped_until > now() then known.stopped_at else now() end`,
    signal,
  );
};

/**
 * Makes the pace that of the account that has connected; until then nothing is sent.
 *
 * @param isCurrent whether it is still connected.
 */
export const beginAccount = async (
  options: LimitOptions,
  number: string,
  isCurrent: () => boolean,
  wakeup: Wakeup,
): Promise<void> => {
  const { sql, pacing, signal } = options;
  if (pacing.number !== number) {
    pacing.end();
    const load = async () => {
      const history = await loadHistory(sql, number);
      if (!isCurrent()) return;
      pacing.begin(history);
      pacing.holdNewContacts(steadyNow() + maxAnswerMs);
    };
    await retryUntilDone(load, signal);
  }
  wakeup.notify();
  if (!isCurrent()) return;
  await askLimits(options);
  pacing.holdNewContacts(0);
  wakeup.notify();
};

/** Queries the limits from time to time: a new cycle of the cap is not announced. */
export const watchLimits = async (options: LimitOptions): Promise<void> => {
  const { channel, signal } = options;
  while (!signal.aborted) {
    await setTimeout(askEveryMs, undefined, { signal }).catch(() => {});
    if (!signal.aborted && channel.isOpen()) await askLimits(options);
  }
};
