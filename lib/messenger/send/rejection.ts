import type { Channel } from "#lib/channels/channel.ts";
import { describeRejection, findRejection } from "#lib/channels/codes.ts";
import type { Action } from "#lib/channels/rejection.ts";
import { steadyNow } from "#lib/deadline.ts";
import { log } from "#lib/log.ts";
import { markFailed, returnToQueue } from "../outbox/lifecycle.ts";
import type { Outgoing } from "../outbox/message.ts";
import { retryUntilDone } from "../outbox/retry.ts";
import { askLimits, type LimitOptions, pauseNewContacts, stopSending } from "./limits.ts";
import { findAddress } from "./number-check.ts";

interface RejectionOptions extends LimitOptions {
  readonly channel: LimitOptions["channel"] & Pick<Channel, "directory" | "name">;
}

/** How often a message is sent again after a rejection, by what is done about it. */
const maxRepeats: Readonly<Record<Action, number>> = {
  pause: 1,
  "pause-if-capped": 1,
  refresh: 1,
  wait: 12,
  "slow-down": 12,
  fail: 0,
};

/** When the platform names no end. */
const defaultPauseSeconds = 60 * 60;

/** Holds back all messages to the number, so that they keep their order. @returns the seconds. */
const holdNumber = ({ pacing }: RejectionOptions, { phone }: Outgoing, seconds: number): number => {
  pacing.coolDown(phone, steadyNow() + seconds * 1_000);
  return seconds;
};

/** @param isAnswered whether the platform says if there is a lock. @returns the delay of the message in seconds. */
const pause = async (options: RejectionOptions, message: Outgoing, isAnswered: boolean): Promise<number> => {
  const { pacing } = options;
  const now = steadyNow();
  const limitedUntil = pacing.platformLimitUntil(now);
  const seconds = limitedUntil > 0 ? (limitedUntil - now) / 1_000 : defaultPauseSeconds;
  if (!message.isNewContact) return holdNumber(options, message, seconds);
  // while new contacts are paused, it is not taken
  if (limitedUntil > 0) return 0;
  // if the platform reports no lock, the first rejection is taken to concern only this number; the second pauses all new contacts
  const isFirst = !pacing.countUnexplained(now, defaultPauseSeconds * 1_000);
  if (isAnswered && isFirst) return holdNumber(options, message, seconds);
  await pauseNewContacts(options, seconds);
  return 0;
};

/** @returns the seconds after which the message may be sent again. */
const recover = async (
  options: RejectionOptions,
  message: Outgoing,
  action: Action,
  isAnswered: boolean,
): Promise<number> => {
  const { sql, channel, pacing } = options;
  if (action === "pause") return pause(options, message, isAnswered);
  if (action === "refresh") {
    const refresh = async () => {
      const { directory } = channel;
      const address = directory && (await findAddress(sql, message.account, directory, message.phone));
      if (address !== undefined) await directory?.refreshRecipient(address);
    };
    await refresh().catch((error: unknown) => {
      log.warn("devices and keys of a recipient could not be queried", { id: message.id, error });
    });
    return 0;
  }
  const waitMs = pacing.retryAfterMs(message.rejections[action] ?? 0);
  if (action === "slow-down") await stopSending(options, waitMs / 1_000);
  return holdNumber(options, message, waitMs / 1_000);
};

/** Requeues or fails a message that the platform has rejected. */
export const settleRejection = async (
  options: RejectionOptions,
  message: Outgoing,
  code: string,
): Promise<"retried" | "failed"> => {
  const { sql, channel, pacing, signal } = options;
  const { action: given } = findRejection(channel.name, code);
  const asks = given === "pause" || given === "pause-if-capped";
  const limits = asks ? await askLimits(options) : undefined;
  const isAnswered = (given === "pause" ? limits?.lockedUntil : limits?.cap) !== undefined;
  // if the platform does not say whether there is a cap, there may be one
  const mayBeLimited = !isAnswered || pacing.platformLimitUntil(steadyNow()) > 0;
  const action = given === "pause-if-capped" ? (mayBeLimited ? "pause" : "refresh") : given;
  const before = message.rejections[action] ?? 0;
  const fails = before >= maxRepeats[action];
  log.warn("the platform rejected a message", { id: message.id, code, action: fails ? "fail" : action });
  if (fails) {
    await retryUntilDone(() => markFailed(sql, message, describeRejection(channel.name, code)), signal);
    return "failed";
  }
  const seconds = await recover(options, message, action, isAnswered);
  const rejections = { ...message.rejections, [action]: before + 1, code: Number(code) };
  await retryUntilDone(
    () => returnToQueue(sql, message, { cost: "nothing", delaySeconds: seconds, rejections }),
    signal,
  );
  return "retried";
};
