import type postgres from "postgres";
import type { ChannelName } from "#lib/messaging/channel.ts";
import type { State, Submission } from "#lib/messaging/submission.ts";

/** The content of a message and its display options, as stored in the outbox. */
export interface Content
  extends Pick<Submission, "text" | "view_once" | "is_forwarded" | "duration_seconds" | "reply_to"> {
  /** The encrypted text of a one-time code, as base64, instead of `text`. */
  readonly sealed?: string | undefined;
  /** Whether its image is to be compressed before the upload. */
  readonly compress?: boolean | undefined;
}

/** One-time codes; messages with media to upload; all others. */
export type Lane = "code" | "upload" | "other";

export interface Outgoing {
  readonly id: string;
  readonly lane: Lane;
  readonly sender: string;
  readonly priority: number;
  readonly kind: Submission["kind"];
  readonly phone: string;
  readonly content: Content;
  readonly mediaId: number | null;
  /** The leader's term in which it was taken. */
  readonly epoch: number;
  /** Sends so far, this one included. */
  readonly attempts: number;
  /** Those that failed before a frame left. */
  readonly failedEarly: number;
  /** That sends it. */
  readonly account: number;
  /** That the account is linked to. */
  readonly number: string;
  /**
   * How often the platform has rejected it, by what was done about it, and the last `code`; how often a service of the
   * platform that it needs has failed, by service.
   */
  readonly rejections: Readonly<Record<string, number>>;
  /** Whether the account never sent anything to the number. */
  readonly isNewContact: boolean;
  /** By the steady clock. */
  readonly expiresAt: number;
  /** The end of its quiet hours, if it was taken within them. */
  readonly quietUntil: Date | null;
  /** The encrypted payload; null until it is composed. */
  readonly payload: Uint8Array | null;
}

/** What keeps a message from being sent: what the pace says, and what the outbox says. */
export type ObstacleName =
  | "not-connected"
  | "paused"
  /** No account, or the pace of the account is not known yet. */
  | "no-account"
  | "quiet-hours"
  /** Its sender wants it sent later. */
  | "scheduled"
  /** After an attempt that failed, or a rejection; or while the platform does not answer for numbers and devices. */
  | "retry"
  /** An earlier message to the same number. */
  | "order"
  /** As many messages of its lane are under way as may be. */
  | "lane"
  /** A service of the platform that it needs has failed. */
  | "media-outage"
  | "directory-outage"
  /** The rest of the number between two messages. */
  | "recipient"
  /** After the platform said that the account sends too fast. */
  | "too-fast"
  | "gap"
  | "minute"
  | "hour"
  | "day"
  /** The daily budget of new contacts. */
  | "new-contacts"
  /** The platform's lock or cap on new contacts, or a pause after a rejection. */
  | "limited"
  /** What is left of the platform's cap is spread over its cycle. */
  | "cap-spread"
  | "limits-unknown"
  /** Others are before it. */
  | "line";

export interface Obstacle {
  readonly name: ObstacleName;
  /** Undefined where the end is unknown. */
  readonly until?: Date | undefined;
}

/** What the console shows of a message: never its text. */
export interface MessageSummary {
  readonly id: string;
  readonly kind: Submission["kind"];
  /** Masked except for the first four and last two digits. */
  readonly phone: string;
  readonly state: State;
  readonly reason: string | null;
  /** With which the platform has rejected it. */
  readonly code: string | null;
  /** Of the account that sends it. */
  readonly channel: ChannelName;
  readonly sender: string;
  readonly attempts: number;
  readonly acceptedAt: Date;
  readonly changedAt: Date;
  /** Why it waits; undefined for one that does not, and where this task does not know. */
  readonly obstacles?: readonly Obstacle[] | undefined;
}

/**
 * Matches the messages that fulfil a condition, and locks them in the order of acceptance, whatever the plan: two statements that
 * change many messages never wait for each other.
 *
 * @param which a condition on `messaging.message`.
 */
export const lockedInOrder = (sql: postgres.ISql, which: postgres.Fragment) => sql`
  seq = any(array(select seq from messaging.message where ${which} order by seq + 0 for update))`;

/** Why a message is FAILED, EXPIRED or UNCERTAIN, or SENT without being readable, besides the platform's codes. */
export const reasons = {
  unanswered: "the platform gave no answer",
  // before what they start with, by which the console finds them
  expiredWithoutMedia: "not sent before it expired; no media server of the platform accepted its media",
  expiredWithoutDirectory:
    "not sent before it expired; the platform did not answer for its number or devices",
  expired: "not sent before it expired",
  unclear: "its outcome could not be stored; see the messenger's log",
  notRegistered: "the number is not registered on the platform",
  noDevice: "the platform names no device of the number that can receive messages",
  optedOut: "the recipient has opted out",
  unprepared: "the message could not be prepared",
  undecryptable:
    'the recipient\'s phone could not decrypt the message and shows "Waiting for this message"; send it again as a new one',
};

export type ReasonName = keyof typeof reasons;
