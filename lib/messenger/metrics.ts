import { setTimeout } from "node:timers/promises";
import type postgres from "postgres";
import type { ConnectionState } from "#lib/channels/channel.ts";
import { deadline, steadyNow } from "#lib/deadline.ts";
import { log } from "#lib/log.ts";
import { type ChannelName, channels } from "#lib/messaging/channel.ts";
import type { Account } from "./account/account.ts";
import type { Link } from "./open-channel.ts";
import { type QueueMetrics, readQueue } from "./outbox/depth.ts";
import type { Pacing } from "./send/pacing.ts";

/** What happened to an account's messages and its connection: `retried` sends, `reconnects` after the first connection. */
type Counted = "sent" | "failed" | "retried" | "undecryptable" | "reconnects";

/**
 * The state of an account and of the queue for the alarms: the account's leader logs it once a minute. A missing line is an alarm too:
 * no task is leader. Contains no phone number, text or id.
 */
export interface Metrics extends Readonly<Record<Counted, number>>, Partial<QueueMetrics> {
  /** Its name. */
  readonly account: string;
  readonly connected: 0 | 1;
  readonly unlinked: 0 | 1;
  /** 1 while the platform accepts no login: until an operator acts, or until a ban ends. */
  readonly rejected: 0 | 1;
  /** 1 while it is none of these: it has lost its connection, or does not get one. */
  readonly disconnected: 0 | 1;
  /** 1 while linking demands a passkey. */
  readonly passkey: 0 | 1;
  /** 1 while the platform rejects new contacts. */
  readonly limited: 0 | 1;
  /** What is left of the platform's cap on new contacts, if it has one. */
  readonly new_contacts_left?: number;
}

const intervalMs = 60_000;
/** After this the metrics are reported without those of the database. */
const timeoutMs = 2_000;
const toBit = (yes: boolean) => (yes ? 1 : 0);

/** Counts since the task leads the account. */
export class Counts {
  readonly totals: Record<Counted, number> = {
    sent: 0,
    failed: 0,
    retried: 0,
    undecryptable: 0,
    reconnects: 0,
  };
  #reported = { ...this.totals };

  count(what: Counted): void {
    this.totals[what] += 1;
  }

  /** @returns what was counted since the last call. */
  takeNew(): Record<Counted, number> {
    const before = Object.entries(this.#reported) as [Counted, number][];
    this.#reported = { ...this.totals };
    return Object.fromEntries(before.map(([what, count]) => [what, this.totals[what] - count])) as Record<
      Counted,
      number
    >;
  }
}

const readLink = (
  state: ConnectionState,
  channel: ChannelName,
): Pick<Metrics, "connected" | "unlinked" | "rejected" | "disconnected" | "passkey"> => {
  const { kind } = state;
  const isRemoved = channels[channel].isLinked && kind === "stopped" && state.code === 401;
  const isUnlinked = kind === "pairing" || kind === "unpaired" || isRemoved;
  const isRejected = (kind === "stopped" && !isRemoved) || (kind === "closed" && state.code === 402);
  return {
    connected: toBit(kind === "open"),
    unlinked: toBit(isUnlinked),
    rejected: toBit(isRejected),
    disconnected: toBit(kind !== "open" && !isUnlinked && !isRejected),
    passkey: toBit(kind === "pairing" && state.passkey === true),
  };
};

export interface MetricSources {
  readonly sql: postgres.Sql;
  readonly account: Pick<Account, "name" | "channel">;
  readonly link: Pick<Link, "state" | "on">;
  readonly pacing: Pacing;
  readonly counts: Counts;
}

/** Reads the metrics; without those of the queue while the database is unavailable. */
export const readMetrics = async (sources: MetricSources): Promise<Metrics> => {
  const { sql, account, link, pacing, counts } = sources;
  const queue = await deadline(readQueue(sql), timeoutMs).catch(() => undefined);
  const now = steadyNow();
  const cap = pacing.capAt(now);
  return {
    account: account.name,
    ...readLink(link.state(), account.channel),
    limited: toBit(pacing.isLimited(now)),
    ...(cap && { new_contacts_left: Math.max(0, cap.total - cap.used) }),
    ...counts.takeNew(),
    ...queue,
  };
};

/**
 * Logs the metrics at once, then every minute and when an operator is needed, until the signal is aborted.
 */
export const reportMetrics = async (sources: MetricSources, signal: AbortSignal): Promise<void> => {
  let waiting = new AbortController();
  const off = sources.link.on("state", (state) => {
    const { rejected, passkey } = readLink(state, sources.account.channel);
    if (rejected || passkey || state.kind === "stopped") waiting.abort();
  });
  while (!signal.aborted) {
    waiting = new AbortController();
    log.info("metrics", { ...(await readMetrics(sources)) });
    const ends = AbortSignal.any([signal, waiting.signal]);
    await setTimeout(intervalMs, undefined, { signal: ends }).catch(() => {});
  }
  off();
};
