import { setTimeout } from "node:timers/promises";
import type postgres from "postgres";
import { isLostConnection } from "#lib/db/lost-connection.ts";
import { log } from "#lib/log.ts";
import type { Channel } from "../channels/channel.ts";
import { ChannelFailure, errorCode } from "../channels/channel-failure.ts";
import type { Outgoing } from "../outbox/message.ts";
import { takeNext } from "../outbox/next.ts";
import { markFailed, markSent, putBack, recover, undo, waitForQuietEnd } from "../outbox/outcome.ts";
import { storePayload } from "../outbox/payload.ts";
import { retryUntilDone } from "../outbox/retry.ts";
import { isRegistered } from "./number-check.ts";
import type { Pacing } from "./pacing.ts";
import type { Wakeup } from "./wakeup.ts";

export interface SenderOptions {
  readonly sql: postgres.Sql;
  readonly epoch: number;
  readonly channel: Channel;
  readonly pacing: Pacing;
  /** Encrypts what goes out, for the database. */
  readonly seal: (id: string, payload: Uint8Array) => Uint8Array;
  readonly open: (id: string, sealed: Uint8Array) => Uint8Array;
  readonly wakeup: Wakeup;
  readonly signal: AbortSignal;
  /** Receives each outcome, for the metrics. */
  readonly onOutcome?: (outcome: "sent" | "failed" | "retried", ms: number) => void;
}

/** Too fast for the platform's taste of new contacts: it wants them left alone for a while. */
const newContactRefusal = "463";
const newContactPauseMs = 60 * 60_000;
const idleMs = 500;
/** Between two looks at an outbox that had nothing to send. */
const restMs = 20;
const firstDelaySeconds = 5;
/** After the database was lost: no fault of the message, which is tried again as soon as there is one. */
const lostDatabaseDelaySeconds = 1;
/** A message that cannot be made so many times never will be. */
const maxPreparations = 5;

/** By what is known of a send that got no answer: it may have left, it has not, or the database was lost. */
const delaysSeconds = { unknown: 0, kept: firstDelaySeconds, interrupted: lostDatabaseDelaySeconds };

/** The longer, the more often it failed. */
const delayAfter = (attempts: number) => firstDelaySeconds * 2 ** (attempts - 1);

/** Makes what goes out, or takes what was made for an earlier send. @returns undefined for a leader no more. */
const prepare = async (options: SenderOptions, message: Outgoing): Promise<Uint8Array | undefined> => {
  const { sql, epoch, channel, seal, open } = options;
  if (message.payload) return open(message.id, message.payload);
  const payload = await channel.compose(message);
  return (await storePayload(sql, epoch, message.id, seal(message.id, payload))) ? payload : undefined;
};

/** Waits before the same number is tried again, so that its messages keep their order. */
const rest = ({ pacing }: SenderOptions, { phone }: Outgoing, seconds: number) =>
  pacing.rest(phone, Date.now() + seconds * 1_000);

/** Whether the database broke off what was being done, not the message or the platform. */
const isDatabaseLost = (error: unknown): boolean =>
  error instanceof Error &&
  (!(error instanceof ChannelFailure) || error.reason === "failed") &&
  isLostConnection(errorCode(error));

const transmit = async (options: SenderOptions, message: Outgoing, payload: Uint8Array) => {
  const { sql, channel, pacing, onOutcome } = options;
  const started = performance.now();
  const verdict = await channel.send(payload, message).catch((error: unknown) => {
    if (error instanceof ChannelFailure && error.reason === "no-recipient")
      return { outcome: "refused", code: "no device" } as const;
    log.warn("a send got no answer", { id: message.id, attempts: message.attempts, error });
    if (!(error instanceof ChannelFailure) || error.mayHaveLeft) return "unknown";
    return isDatabaseLost(error) ? "interrupted" : "kept";
  });
  const ms = performance.now() - started;
  if (typeof verdict === "string") {
    const seconds = channel.isOpen() ? delaysSeconds[verdict] : 0;
    rest(options, message, seconds);
    const again = verdict === "unknown" ? putBack : undo;
    await retryUntilDone(() => again(sql, message, seconds), options.signal);
    return onOutcome?.("retried", ms);
  }
  pacing.note(message.phone, message.isNewContact && verdict.outcome === "acked", Date.now());
  if (verdict.outcome === "acked") {
    await retryUntilDone(() => markSent(sql, message), options.signal);
    return onOutcome?.("sent", ms);
  }
  if (verdict.code === newContactRefusal) {
    log.warn("the platform refuses new contacts; none for an hour", { id: message.id });
    pacing.pauseNewContacts(Date.now() + newContactPauseMs);
    const delaySeconds = message.isNewContact ? 0 : newContactPauseMs / 1_000;
    await retryUntilDone(() => undo(sql, message, delaySeconds), options.signal);
    return onOutcome?.("retried", ms);
  }
  const reason = `refused by the platform, code ${verdict.code}`;
  await retryUntilDone(() => markFailed(sql, message, reason), options.signal);
  onOutcome?.("failed", ms);
};

const deliver = async (options: SenderOptions, message: Outgoing): Promise<void> => {
  const { sql, channel, onOutcome } = options;
  try {
    if (!(await isRegistered(sql, channel, message.phone))) {
      await markFailed(sql, message, "the number is not registered on the platform");
      return onOutcome?.("failed", 0);
    }
    const payload = await prepare(options, message);
    if (payload) await transmit(options, message, payload);
  } catch (error) {
    await postpone(options, message, error);
  }
};

/** Nothing has left: the number could not be checked, or the message not be made. */
const postpone = async (options: SenderOptions, message: Outgoing, error: unknown): Promise<void> => {
  const { sql, channel, onOutcome } = options;
  const { id, attempts } = message;
  log.warn("a message could not be prepared", { id, attempts, error });
  const isLost = isDatabaseLost(error);
  if (isLost || !channel.isOpen()) {
    const seconds = isLost ? lostDatabaseDelaySeconds : 0;
    rest(options, message, seconds);
    await retryUntilDone(() => undo(sql, message, seconds), options.signal);
    return onOutcome?.("retried", 0);
  }
  if (attempts >= maxPreparations) {
    await retryUntilDone(() => markFailed(sql, message, "the message could not be prepared"), options.signal);
    return onOutcome?.("failed", 0);
  }
  rest(options, message, delayAfter(attempts));
  await retryUntilDone(() => putBack(sql, message, delayAfter(attempts)), options.signal);
  onOutcome?.("retried", 0);
};

const step = async (options: SenderOptions): Promise<void> => {
  const { sql, epoch, channel, pacing, wakeup, signal } = options;
  const now = Date.now();
  const delayMs = channel.isOpen() ? pacing.nextAt() - now : idleMs;
  if (delayMs > 0) return wakeup.wait(Math.min(delayMs, idleMs), signal);
  const message = await takeNext(sql, {
    epoch,
    resting: pacing.resting(now),
    newContacts: pacing.allowsNewContacts(now),
  });
  if (message?.quietUntil) return waitForQuietEnd(sql, message);
  if (message) return deliver(options, message);
  // who accepts many at once, while nothing may be sent, would else have it looked for each of them
  await setTimeout(restMs);
  await wakeup.wait(idleMs, signal);
};

/** Sends what is in the outbox, one message at a time, until the signal ends it. */
export const runSender = async (options: SenderOptions): Promise<void> => {
  const { sql, epoch, signal, wakeup } = options;
  const work = async () => {
    // what an earlier leader, or a step that broke off, left under way
    await recover(sql, epoch);
    while (!signal.aborted) await step(options);
  };
  while (!signal.aborted)
    await work().catch(async (error: unknown) => {
      log.warn("the outbox cannot be worked on", { error });
      await wakeup.wait(idleMs, signal);
    });
};
