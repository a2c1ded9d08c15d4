import { setTimeout } from "node:timers/promises";
import type postgres from "postgres";
import type { ConnectionState } from "#lib/channels/channel.ts";
import { deadline, steadyNow } from "#lib/deadline.ts";
import { log } from "#lib/log.ts";
import { type ChannelName, channels } from "#lib/messaging/channel.ts";
import type { Account } from "./account/account.ts";
import type { Link } from "./open-channel.ts";
import { type QueueFigures, readQueue } from "./outbox/depth.ts";
import type { Pacing } from "./send/pacing.ts";

/** Sends by outcome since the last report. */
interface SendFigures {
  readonly sent: number;
  readonly failed: number;
  readonly retried: number;
}

/**
 * The state of an account and of the queue for the alarms: the account's leader logs it once a minute. A missing line is an alarm too:
 * no task is leader. Contains no phone number, text or id.
 */
export interface Figures extends SendFigures, Partial<QueueFigures> {
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
/** After this the figures are reported without those of the database. */
const timeoutMs = 2_000;
const toBit = (yes: boolean) => (yes ? 1 : 0);

export class SendCounter {
  #counts = { sent: 0, failed: 0, retried: 0 };

  count(outcome: keyof SendFigures): void {
    this.#counts[outcome] += 1;
  }

  /** Resets the counts. @returns those before. */
  reset(): SendFigures {
    const counts = this.#counts;
    this.#counts = { sent: 0, failed: 0, retried: 0 };
    return counts;
  }
}

const readLink = (
  state: ConnectionState,
  channel: ChannelName,
): Pick<Figures, "connected" | "unlinked" | "rejected" | "disconnected" | "passkey"> => {
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

export interface FigureSources {
  readonly sql: postgres.Sql;
  readonly account: Pick<Account, "name" | "channel">;
  readonly link: Pick<Link, "state" | "on">;
  readonly pacing: Pacing;
  readonly counter: SendCounter;
}

/** Reads the figures; without those of the queue while the database is unavailable. */
export const readFigures = async (sources: FigureSources): Promise<Figures> => {
  const { sql, account, link, pacing, counter } = sources;
  const queue = await deadline(readQueue(sql), timeoutMs).catch(() => undefined);
  const now = steadyNow();
  const cap = pacing.capAt(now);
  return {
    account: account.name,
    ...readLink(link.state(), account.channel),
    limited: toBit(pacing.isLimited(now)),
    ...(cap && { new_contacts_left: Math.max(0, cap.total - cap.used) }),
    ...counter.reset(),
    ...queue,
  };
};

/**
 * Logs the figures at once, then every minute and when an operator is needed, until the signal is aborted.
 */
export const reportFigures = async (sources: FigureSources, signal: AbortSignal): Promise<void> => {
  let waiting = new AbortController();
  const off = sources.link.on("state", (state) => {
    const { rejected, passkey } = readLink(state, sources.account.channel);
    if (rejected || passkey || state.kind === "stopped") waiting.abort();
  });
  while (!signal.aborted) {
    waiting = new AbortController();
    log.info("figures", { ...(await readFigures(sources)) });
    const ends = AbortSignal.any([signal, waiting.signal]);
    await setTimeout(intervalMs, undefined, { signal: ends }).catch(() => {});
  }
  off();
};
