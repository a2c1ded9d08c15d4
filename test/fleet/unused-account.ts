import type { History } from "#lib/messenger/send/history.ts";
import { number } from "./outbox-rows.ts";

/** Of an account that has sent nothing and that the platform does not limit. */
export const unusedAccount: History = {
  number,
  sentAt: [],
  newContactsAt: [],
  firstSentAt: undefined,
  lockedUntil: 0,
  pausedUntil: 0,
  stoppedUntil: 0,
  cap: null,
  resting: [],
};
