import type { History } from "#lib/messenger/send/pacing.ts";
import { account } from "../outbox/outbox-rows.ts";

/** Of an account that has sent nothing and that the platform does not limit. */
export const unusedAccount: History = {
  account,
  sentAt: [],
  newContactsAt: [],
  daysOfUse: 0,
  lockedUntil: 0,
  pausedUntil: 0,
  cap: null,
  resting: [],
};
