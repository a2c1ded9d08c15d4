import { setTimeout } from "node:timers/promises";
import type postgres from "postgres";
import { isLostConnection } from "#lib/db/lost-connection.ts";
import { log } from "#lib/log.ts";
import { steadyNow } from "#lib/steady-clock.ts";
import { type Channel, ChannelFailure, errorCode } from "../channels/channel.ts";
import type { Outgoing } from "../outbox/message.ts";
import { takeNext } from "../outbox/next.ts";
import * as outcome from "../outbox/outcome.ts";
import { storePayload } from "../outbox/payload.ts";
import { reasons } from "../outbox/reason.ts";
import { retryUntilDone } from "../outbox/retry.ts";
import { Rotation } from "../outbox/rotation.ts";
import { Lanes } from "./lanes.ts";
import { findAddress } from "./number-check.ts";
import type { Pacing } from "./pacing.ts";
import { settleRefusal } from "./refusal.ts";
import type { Wakeup } from "./wakeup.ts";

export interface SenderOptions {
  readonly sql: postgres.Sql;
  readonly epoch: number;
  readonly channel: Channel;
  readonly pacing: Pacing;
  readonly encrypt: (id: string, payload: Uint8Array) => Uint8Array;
  readonly decrypt: (id: string, encrypted: Uint8Array) => Uint8Array;
  /** Decrypts the text of a one-time code. */
  readonly openText: (id: string, sealed: string) => string;
  readonly wakeup: Wakeup;
  readonly signal: AbortSignal;
  /** Receives each outcome, for the metrics. */
  readonly onOutcome?: (outcome: "sent" | "failed" | "retried", ms: number) => void;
}

const idleMs = 500;
/** Least time between two queries of an empty outbox. */
const minIdleMs = 20;
/** After an attempt that failed before the frame left; doubled after each more. */
const firstDelaySeconds = 5;
const maxDelaySeconds = 600;
/** After a lost database connection, which the message did not cause. */
const lostDatabaseDelaySeconds = 1;
/** A message that could not be prepared this often, or whose number has no device, has failed: after 75 seconds. */
const maxPreparations = 5;

const delayAfter = (attempts: number) => Math.min(firstDelaySeconds * 2 ** (attempts - 1), maxDelaySeconds);

/** Composes the payload, or decrypts that of an earlier send. @returns undefined for a former leader. */
const prepare = async (
  options: SenderOptions,
  message: Outgoing,
  address: string,
): Promise<Uint8Array | undefined> => {
  const { sql, epoch, channel, encrypt, decrypt, openText } = options;
  if (message.payload) return decrypt(message.id, message.payload);
  const { sealed, ...shown } = message.content;
  const content = sealed === undefined ? shown : { ...shown, text: openText(message.id, sealed) };
  const payload = await channel.compose({ ...message, content }, address);
  return (await storePayload(sql, epoch, message.id, encrypt(message.id, payload))) ? payload : undefined;
};

/** Holds back other messages to the number as well, so that they keep their order. */
const holdBack = ({ pacing }: SenderOptions, { phone }: Outgoing, seconds: number) =>
  pacing.coolDown(phone, steadyNow() + seconds * 1_000);

const isDatabaseLost = (error: unknown): boolean =>
  error instanceof Error &&
  (!(error instanceof ChannelFailure) || error.reason === "failed") &&
  isLostConnection(errorCode(error));

/** Requeues a message that may have left, that has not, or whose send a lost database connection has interrupted. */
const repeat = async (
  options: SenderOptions,
  message: Outgoing,
  verdict: "unknown" | "not-sent" | "interrupted",
): Promise<void> => {
  const { sql, channel, signal } = options;
  const isFailure = verdict === "not-sent" && channel.isOpen();
  const delays = {
    unknown: 0,
    "not-sent": delayAfter(message.attempts),
    interrupted: lostDatabaseDelaySeconds,
  };
  const seconds = channel.isOpen() ? delays[verdict] : 0;
  const again = verdict === "unknown" ? outcome.requeue : outcome.requeueUnsent;
  holdBack(options, message, seconds);
  await retryUntilDone(() => (isFailure ? outcome.requeueFailed : again)(sql, message, seconds), signal);
};

const isWithoutDevices = (error: unknown): boolean =>
  error instanceof ChannelFailure && error.reason === "no-devices";

const transmit = async (options: SenderOptions, message: Outgoing, payload: Uint8Array) => {
  const { sql, channel, pacing, onOutcome } = options;
  const started = performance.now();
  const verdict = await channel.send(payload, message).catch((error: unknown) => {
    if (isWithoutDevices(error)) throw error;
    if (error instanceof ChannelFailure && error.reason === "no-recipient")
      return { outcome: "refused", code: "no device" } as const;
    log.warn("send got no answer", { id: message.id, attempts: message.attempts, error });
    if (!(error instanceof ChannelFailure) || error.mayHaveLeft) return "unknown";
    return isDatabaseLost(error) ? "interrupted" : "not-sent";
  });
  const ms = performance.now() - started;
  if (typeof verdict === "string") {
    await repeat(options, message, verdict);
    return onOutcome?.("retried", ms);
  }
  pacing.recordSend(message.phone, message.isNewContact && verdict.outcome === "acked", steadyNow());
  if (verdict.outcome === "acked") {
    await retryUntilDone(() => outcome.markSent(sql, message), options.signal);
    return onOutcome?.("sent", ms);
  }
  const settled = await settleRefusal(options, message, verdict.code);
  onOutcome?.(settled, ms);
};

/**
 * Sends a message that is ready. If another one was sent meanwhile, it waits for its turn in the outbox: a message takes
 * its place in the pace only when it is sent.
 */
const sendInTurn = async (options: SenderOptions, message: Outgoing, payload: Uint8Array): Promise<void> => {
  const { sql, pacing, signal } = options;
  const end = pacing.admit(message, steadyNow());
  if (!end) return retryUntilDone(() => outcome.requeueComposed(sql, message), signal);
  await transmit(options, message, payload).finally(end);
};

const deliver = async (options: SenderOptions, message: Outgoing): Promise<void> => {
  const { sql, channel, onOutcome } = options;
  try {
    const address = await findAddress(sql, channel, message.phone);
    if (address === undefined) {
      await outcome.markFailed(sql, message, reasons.unregistered);
      return onOutcome?.("failed", 0);
    }
    const payload = await prepare(options, message, address);
    if (payload) await sendInTurn(options, message, payload);
  } catch (error) {
    await postpone(options, message, error);
  }
};

/** Requeues a message that could not be prepared: nothing has left. */
const postpone = async (options: SenderOptions, message: Outgoing, error: unknown): Promise<void> => {
  const { sql, channel, onOutcome } = options;
  const { id, attempts } = message;
  log.warn("message could not be prepared", { id, attempts, error });
  const isLost = isDatabaseLost(error);
  if (isLost || !channel.isOpen()) {
    const seconds = isLost ? lostDatabaseDelaySeconds : 0;
    holdBack(options, message, seconds);
    await retryUntilDone(() => outcome.requeueUnsent(sql, message, seconds), options.signal);
    return onOutcome?.("retried", 0);
  }
  if (attempts >= maxPreparations) {
    const reason = isWithoutDevices(error) ? reasons.deviceless : reasons.unprepared;
    await retryUntilDone(() => outcome.markFailed(sql, message, reason), options.signal);
    return onOutcome?.("failed", 0);
  }
  holdBack(options, message, delayAfter(attempts));
  await retryUntilDone(() => outcome.requeueFailed(sql, message, delayAfter(attempts)), options.signal);
  onOutcome?.("retried", 0);
};

const step = async (options: SenderOptions, rotation: Rotation, lanes: Lanes): Promise<void> => {
  const { sql, epoch, channel, pacing, wakeup, signal } = options;
  const now = steadyNow();
  const delayMs = channel.isOpen() ? pacing.nextAt() - now : idleMs;
  if (delayMs > 0) return wakeup.wait(Math.min(delayMs, idleMs), signal);
  const message = await takeNext(sql, {
    epoch,
    resting: pacing.coolingDown(now),
    account: pacing.account ?? "",
    newContactsUpTo: pacing.newContactsUpTo(now),
    lanes: lanes.listFree(),
    underWay: lanes.ids,
    rotation,
  });
  if (message?.quietUntil) return outcome.deferUntilQuietEnd(sql, message);
  if (message) return lanes.follow(message, deliver(options, message));
  // limits the queries while many messages are accepted but none may be sent
  const woken = wakeup.wait(idleMs, signal);
  await setTimeout(minIdleMs);
  await woken;
};

/**
 * Sends the messages in the outbox until the signal is aborted, one at a time to each number.
 *
 * This one loop takes all messages, so that no two statements take messages to one number at once. Several may be under
 * way, a few of each lane: an upload, or a number that does not answer, delays no one-time code. baileys encrypts them one
 * at a time, in a transaction of the account that ends when the frame has left: the sessions with the account's own
 * devices, which all sends share, are never used by two at once.
 */
export const runSender = async (options: SenderOptions): Promise<void> => {
  const { sql, epoch, signal, wakeup } = options;
  const rotation = new Rotation();
  const lanes = new Lanes(() => wakeup.notify());
  const work = async () => {
    // sends that an earlier leader, or an earlier error, interrupted
    await outcome.recover(sql, epoch, lanes.ids);
    while (!signal.aborted) await step(options, rotation, lanes);
  };
  while (!signal.aborted)
    await work().catch(async (error: unknown) => {
      log.warn("sender failed", { error });
      await wakeup.wait(idleMs, signal);
    });
  await lanes.end();
};
