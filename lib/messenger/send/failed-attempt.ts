import { ChannelFailure, errorCode, Unsendable } from "#lib/channels/channel.ts";
import { isLostConnection } from "#lib/db/outage.ts";
import { steadyNow } from "#lib/deadline.ts";
import { log } from "#lib/log.ts";
import { markFailed, maxFailedEarly, type Return, returnToQueue } from "../outbox/lifecycle.ts";
import { type Outgoing, reasons } from "../outbox/message.ts";
import { retryUntilDone } from "../outbox/retry.ts";
import { failedService } from "./outages.ts";
import type { SenderOptions } from "./sender.ts";

/**
 * The wait after the first attempt that ended before a frame left. Each further wait is twice as long; after `maxFailedEarly`
 * attempts, 75 s in all, the message has failed.
 */
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

/** How a message returns to the queue whose send failed for a reason that is not its own. */
const findCommonCause = (
  options: SenderOptions,
  message: Outgoing,
  error: unknown,
): (Return & { readonly delaySeconds: number }) | undefined => {
  const { channel, pacing, signal } = options;
  if (isDatabaseLost(error)) return { cost: "nothing", delaySeconds: lostDatabaseDelaySeconds };
  if (signal.aborted || !channel.isOpen()) return { cost: "nothing", delaySeconds: 0 };
  const service = failedService(error);
  if (!service) return undefined;
  const before = message.rejections[service] ?? 0;
  const now = steadyNow();
  const sharedMs = pacing.outages.record(service, now) - now;
  // longer than the others, of which one tries next: if only this message gets no answer, it does not hold them up
  const delaySeconds = Math.max(2 * sharedMs, pacing.retryAfterMs(before + 1)) / 1_000;
  const rejections = { ...message.rejections, [service]: before + 1 };
  return { cost: "nothing", delaySeconds, rejections };
};

/** Puts a message back into the queue, or fails it, after an attempt of which nothing has left. */
export const settleFailedAttempt = async (
  options: SenderOptions,
  message: Outgoing,
  error: unknown,
): Promise<void> => {
  const { sql, pacing, signal, onOutcome } = options;
  const { id, attempts, failedEarly } = message;
  log.warn("message could not be prepared", { id, attempts, error });
  if (isWithoutDevices(error)) pacing.outages.end("directory");
  const isUnsendable = error instanceof Unsendable;
  const common = isUnsendable ? undefined : findCommonCause(options, message, error);
  if (!common && (isUnsendable || failedEarly + 1 >= maxFailedEarly)) {
    await retryUntilDone(() => markFailed(sql, message, reasonOf(error)), signal);
    return onOutcome?.("failed");
  }
  const back = common ?? { cost: "attempt" as const, delaySeconds: firstDelaySeconds * 2 ** failedEarly };
  holdBack(options, message, back.delaySeconds);
  await retryUntilDone(() => returnToQueue(sql, message, back), signal);
  onOutcome?.("retried");
};
