import { ChannelFailure, errorCode, Unsendable } from "#lib/channels/channel.ts";
import { isLostConnection } from "#lib/db/outage.ts";
import { steadyNow } from "#lib/deadline.ts";
import { log } from "#lib/log.ts";
import { type Outgoing, reasons } from "../outbox/message.ts";
import * as outcome from "../outbox/outcome.ts";
import { retryUntilDone } from "../outbox/outcome.ts";
import { failedService } from "./outages.ts";
import type { SenderOptions } from "./sender.ts";

/** After an attempt that failed before the frame left; doubled after each more: the message has failed after 75 seconds. */
const firstDelaySeconds = 5;
/** After a lost database connection, which the message did not cause. */
const lostDatabaseDelaySeconds = 1;

/** Holds back other messages to the number as well, so that they keep their order. */
export const holdBack = ({ pacing }: SenderOptions, { phone }: Outgoing, seconds: number) =>
  pacing.coolDown(phone, steadyNow() + seconds * 1_000);

const isDatabaseLost = (error: unknown): boolean =>
  error instanceof Error &&
  (!(error instanceof ChannelFailure) || error.reason === "failed") &&
  isLostConnection(errorCode(error));

const isWithoutDevices = (error: unknown): boolean =>
  error instanceof ChannelFailure && error.reason === "no-device";

/** Why a message has failed that cannot be sent. */
const reasonOf = (error: unknown): string => {
  if (error instanceof Unsendable) return error.message;
  return isWithoutDevices(error) ? reasons.noDevice : reasons.unprepared;
};

/** How long a message waits whose send failed for a reason that is not its own, and how that is stored. */
const findCommonCause = (options: SenderOptions, message: Outgoing, error: unknown) => {
  const { sql, channel, pacing, signal } = options;
  const isLost = isDatabaseLost(error);
  if (isLost || signal.aborted || !channel.isOpen()) {
    const seconds = isLost ? lostDatabaseDelaySeconds : 0;
    return { seconds, requeue: () => outcome.requeueUnsent(sql, message, seconds) };
  }
  const service = failedService(error);
  if (!service) return undefined;
  const before = message.rejections[service] ?? 0;
  const now = steadyNow();
  const sharedMs = pacing.outages.record(service, now) - now;
  // longer than the others, of which one tries next: if only this message gets no answer, it does not hold them up
  const seconds = Math.max(2 * sharedMs, pacing.retryAfterMs(before + 1)) / 1_000;
  const rejections = { ...message.rejections, [service]: before + 1 };
  return { seconds, requeue: () => outcome.requeueRejected(sql, message, seconds, rejections) };
};

/** Requeues or fails a message that could not be sent: nothing has left. */
export const postpone = async (options: SenderOptions, message: Outgoing, error: unknown): Promise<void> => {
  const { sql, pacing, signal, onOutcome } = options;
  const { id, attempts, unsent } = message;
  log.warn("message could not be prepared", { id, attempts, error });
  if (isWithoutDevices(error)) pacing.outages.end("directory");
  const isUnsendable = error instanceof Unsendable;
  const common = isUnsendable ? undefined : findCommonCause(options, message, error);
  if (!common && (isUnsendable || unsent + 1 >= outcome.maxUnsent)) {
    await retryUntilDone(() => outcome.markFailed(sql, message, reasonOf(error)), signal);
    return onOutcome?.("failed", 0);
  }
  const own = firstDelaySeconds * 2 ** unsent;
  const { seconds, requeue } = common ?? {
    seconds: own,
    requeue: () => outcome.requeueFailed(sql, message, own),
  };
  holdBack(options, message, seconds);
  await retryUntilDone(requeue, signal);
  onOutcome?.("retried", 0);
};
