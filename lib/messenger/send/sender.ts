import { setTimeout } from "node:timers/promises";
import type postgres from "postgres";
import { type Channel, ChannelFailure, type SendOutcome } from "#lib/channels/channel.ts";
import { steadyNow } from "#lib/deadline.ts";
import { log } from "#lib/log.ts";
import { priorities } from "#lib/messaging/submission.ts";
import {
  countEarlierSends,
  deferUntilQuietEnd,
  markFailed,
  markUnclear,
  recover,
  returnToQueue,
} from "../outbox/lifecycle.ts";
import { type Outgoing, reasons } from "../outbox/message.ts";
import { OpenFrom, Rotation, takeNext } from "../outbox/next.ts";
import { storePayload } from "../outbox/payload.ts";
import { markSent } from "../outbox/receipt.ts";
import { retryUntilDone } from "../outbox/retry.ts";
import type { Wakeup } from "../outbox/wakeup.ts";
import { holdBack, settleFailedAttempt } from "./failed-attempt.ts";
import { Lanes } from "./lanes.ts";
import { findAddress } from "./number-check.ts";
import type { Pacing } from "./pacing.ts";
import { settleRejection } from "./rejection.ts";
import { restrictionsAt } from "./restrictions.ts";

export interface SenderOptions {
  readonly sql: postgres.Sql;
  /** That sends. */
  readonly account: number;
  readonly epoch: number;
  readonly channel: Channel;
  readonly pacing: Pacing;
  readonly encrypt: (id: string, payload: Uint8Array) => Uint8Array;
  readonly decrypt: (id: string, encrypted: Uint8Array) => Uint8Array;
  /** Decrypts the text of a one-time code. */
  readonly openText: (id: string, sealed: string) => string;
  /** Whether a number gets no reminders and no bulk messages. */
  readonly isOptedOut: (phone: string) => Promise<boolean>;
  readonly wakeup: Wakeup;
  /** Of the task, whose senders share it. */
  readonly openFrom?: OpenFrom;
  /** How long it waits to be woken before it looks for messages by itself; by default as long as nobody watches. */
  readonly unwokenMs?: number;
  /** How often an account without room for new contacts looks for known ones among all that wait for its pool. */
  readonly poolEveryMs?: number | undefined;
  readonly signal: AbortSignal;
  /** Receives each outcome, for the metrics. */
  readonly onOutcome?: (outcome: "sent" | "failed" | "retried") => void;
}

const idleMs = 500;
const defaultPoolEveryMs = 10_000;
/** Least time between two queries of an empty outbox. */
const minIdleMs = 20;
/** Composes the payload, or decrypts that of an earlier send. @returns undefined for a former leader. */
const prepare = async (
  options: SenderOptions,
  message: Outgoing,
  address: string,
): Promise<Uint8Array | undefined> => {
  const { sql, channel, encrypt, decrypt, openText } = options;
  if (message.payload) return decrypt(message.id, message.payload);
  const { sealed, ...shown } = message.content;
  const content = sealed === undefined ? shown : { ...shown, text: openText(message.id, sealed) };
  const payload = await channel.compose({ ...message, content }, address);
  return (await storePayload(sql, message, channel.name, encrypt(message.id, payload))) ? payload : undefined;
};

/**
 * Requeues a message whose frame may have left: the platform gave no answer, or the connection was lost before. Where a phone
 * would show it twice, it is UNCERTAIN until the platform reports what became of it.
 */
const repeat = async (options: SenderOptions, message: Outgoing): Promise<void> => {
  const { sql, channel, pacing, signal } = options;
  const before = countEarlierSends(message);
  const seconds = channel.isOpen() ? pacing.retryAfterMs(before) / 1_000 : 0;
  holdBack(options, message, seconds);
  await retryUntilDone(
    () =>
      returnToQueue(sql, message, {
        cost: "send",
        delaySeconds: seconds,
        canRepeat: channel.canRepeat,
      }),
    signal,
  );
};

/** Leaves a message where an operator sees it: the database does not accept what happened to it. */
const leaveUnclear = async ({ sql, signal }: SenderOptions, message: Outgoing, error: unknown) => {
  log.error("the outcome of a message cannot be stored", { id: message.id, error });
  await retryUntilDone(() => markUnclear(sql, message), signal);
};

/** Marks an unsent message as failed, or as uncertain if an earlier attempt may have sent it. */
const leaveUnsent = async (options: SenderOptions, message: Outgoing, error: unknown) => {
  const { sql, signal } = options;
  if (countEarlierSends(message) > 0) return leaveUnclear(options, message, error);
  log.error("a message cannot be requeued", { id: message.id, error });
  await retryUntilDone(() => markFailed(sql, message, reasons.unprepared), signal);
};

const settle = async (
  options: SenderOptions,
  message: Outgoing,
  verdict: SendOutcome | undefined,
): Promise<"sent" | "failed" | "retried"> => {
  if (verdict?.outcome === "rejected") return settleRejection(options, message, verdict.code);
  if (verdict) await retryUntilDone(() => markSent(options.sql, message, verdict.reference), options.signal);
  else await repeat(options, message);
  return verdict ? "sent" : "retried";
};

/** @throws the error of a send that failed before its frame left. */
const transmit = async (options: SenderOptions, message: Outgoing, payload: Uint8Array) => {
  const { channel, pacing, onOutcome } = options;
  const verdict = await channel.send(payload, message).catch((error: unknown) => {
    if (error instanceof ChannelFailure && error.reason === "not-registered")
      return { outcome: "rejected", code: "not_registered" } as const;
    if (error instanceof ChannelFailure && !error.mayHaveLeft) throw error;
    log.warn("send got no answer", { id: message.id, attempts: message.attempts, error });
    return undefined;
  });
  // without an answer too: the frame may have left
  pacing.recordSend(message.phone, message.isNewContact && verdict?.outcome === "acked", steadyNow());
  await settle(options, message, verdict).then(
    (settled) => onOutcome?.(settled),
    (error: unknown) =>
      leaveUnclear(options, message, error).catch((again: unknown) => {
        // a rejection would say that nothing has left
        log.error("a message keeps the state that it has while it is sent", { id: message.id, error: again });
      }),
  );
};

/**
 * Ends a reminder or a bulk message to a number that has opted out since it was accepted. Asked in its turn: no other message
 * to the number is sent meanwhile, so none of these follows the confirmation that there will be none.
 *
 * @returns whether it was ended.
 */
const endUnwanted = async (options: SenderOptions, message: Outgoing): Promise<boolean> => {
  const { sql, signal, isOptedOut, onOutcome } = options;
  const { phone, priority } = message;
  if (priority < priorities.reminder || !(await isOptedOut(phone))) return false;
  const mark = countEarlierSends(message) > 0 ? markUnclear : markFailed;
  await retryUntilDone(() => mark(sql, message, reasons.optedOut), signal);
  onOutcome?.("failed");
  return true;
};

/**
 * Sends a message that is ready. If another one was sent meanwhile, it waits for its turn in the outbox: a message takes
 * its place in the pace only when it is sent. So does one whose media were uploaded, which may take minutes: it may have
 * expired, quiet hours may have begun, an operator may have paused sending.
 *
 * @returns whether it was sent.
 */
const sendInTurn = async (
  options: SenderOptions,
  message: Outgoing,
  payload: Uint8Array,
): Promise<boolean> => {
  const { sql, pacing, signal } = options;
  const now = steadyNow();
  const isLate = isUpload(message) || now >= message.expiresAt;
  const end = isLate ? undefined : pacing.admit(message, now);
  if (!end) {
    await retryUntilDone(() => returnToQueue(sql, message, { cost: "nothing", uploaded: true }), signal);
    return false;
  }
  try {
    if (await endUnwanted(options, message)) return false;
    await transmit(options, message, payload);
    return true;
  } finally {
    end();
  }
};

/**
 * Looks up a number. The platform's answer that it has no account ends an outage of the directory; after any other its
 * devices are still to be queried.
 */
const lookUp = async (
  { sql, channel: { directory }, pacing: { outages } }: SenderOptions,
  { account, phone }: Outgoing,
): Promise<string | undefined> => {
  if (!directory) return phone;
  const ask = async () => {
    const address = await directory.findAddress(phone);
    if (address === undefined) outages.end("directory");
    return address;
  };
  return findAddress(sql, account, { findAddress: ask }, phone);
};

const isUpload = ({ mediaId, payload }: Outgoing): boolean => mediaId !== null && payload === null;

const attempt = async (options: SenderOptions, message: Outgoing): Promise<void> => {
  const { sql, channel, pacing, onOutcome } = options;
  const { outages } = pacing;
  const address = await lookUp(options, message);
  if (address === undefined) {
    await markFailed(sql, message, reasons.notRegistered);
    return onOutcome?.("failed");
  }
  const payload = await prepare(options, message, address);
  if (isUpload(message)) outages.end("media");
  if (!payload) return;
  const isAnswerNeeded = channel.directory?.knowsDevices(address) === false;
  const isSent = await sendInTurn(options, message, payload);
  if (isSent && isAnswerNeeded) outages.end("directory");
};

const deliver = (options: SenderOptions, message: Outgoing): Promise<void> =>
  attempt(options, message)
    .catch((error: unknown) => settleFailedAttempt(options, message, error))
    .catch((error: unknown) => leaveUnsent(options, message, error));

/** What the sender remembers of the outbox. */
interface Memory {
  readonly rotation: Rotation;
  readonly openFrom: OpenFrom;
  /** When it has found nothing among all that wait for the pool. */
  poolLookedAt: number;
}

const step = async (options: SenderOptions, memory: Memory, lanes: Lanes): Promise<void> => {
  const { sql, epoch, channel, pacing, wakeup, unwokenMs = idleMs, signal } = options;
  const { poolEveryMs = defaultPoolEveryMs } = options;
  const now = steadyNow();
  const delayMs = channel.isOpen() ? pacing.nextAt(now) - now : idleMs;
  if (delayMs > 0) return wakeup.wait(Math.min(delayMs, idleMs), signal);
  const restrictions = restrictionsAt(options, now);
  const isPoolDue = now - memory.poolLookedAt >= poolEveryMs;
  const { rotation, openFrom } = memory;
  const message = await takeNext(sql, {
    epoch,
    ...restrictions,
    poolUpTo: isPoolDue ? undefined : restrictions.newContactsUpTo,
    lanes: lanes.listFree().filter((lane) => lane !== "upload" || now >= pacing.outages.until("media")),
    underWay: lanes.ids,
    rotation,
    openFrom: await openFrom.find(sql),
  });
  if (message?.quietUntil) return deferUntilQuietEnd(sql, message);
  if (message) return lanes.follow(message, deliver(options, message));
  if (isPoolDue) memory.poolLookedAt = now;
  // limits the queries while many messages are accepted but none may be sent
  const woken = wakeup.wait(unwokenMs, signal);
  await setTimeout(minIdleMs);
  await woken;
};

/**
 * Sends the messages in the outbox until the signal is aborted, one at a time to each number.
 *
 * This one loop takes all messages of the account, so that no two statements take messages to one number at once. Several may be under
 * way, a few of each lane: an upload, or a number that does not answer, delays no one-time code. baileys encrypts them one
 * at a time, in a transaction of the account that ends when the frame has left: the sessions with the account's own
 * devices, which all sends share, are never used by two at once.
 */
export const runSender = async (options: SenderOptions): Promise<void> => {
  const { sql, epoch, channel, signal, wakeup, openFrom = new OpenFrom() } = options;
  const memory: Memory = { rotation: new Rotation(), openFrom, poolLookedAt: Number.NEGATIVE_INFINITY };
  const lanes = new Lanes(() => wakeup.notify());
  const work = async () => {
    // sends that an earlier leader, or an earlier error, interrupted
    await recover(sql, epoch, lanes.ids, channel.canRepeat);
    while (!signal.aborted) await step(options, memory, lanes);
  };
  while (!signal.aborted)
    await work().catch(async (error: unknown) => {
      log.warn("sender failed", { error });
      await wakeup.wait(idleMs, signal);
    });
  await lanes.end();
};
