import type { State, Submission } from "#lib/messaging/submission.ts";

/** What a message says and how it is to be shown, as the outbox keeps it. */
export type Content = Pick<
  Submission,
  "text" | "view_once" | "is_forwarded" | "duration_seconds" | "reply_to"
>;

/** A message that is to be sent now. */
export interface Outgoing {
  readonly id: string;
  readonly kind: Submission["kind"];
  readonly phone: string;
  readonly content: Content;
  readonly mediaId: number | null;
  /** The leader's term in which it was taken. */
  readonly epoch: number;
  /** Sends so far, this one included. */
  readonly attempts: number;
  /** Whether the number was never written to. */
  readonly isNewContact: boolean;
  /** The end of its quiet hours, when it was taken within them. */
  readonly quietUntil: Date | null;
  /** What goes out, sealed; null until it was composed. */
  readonly payload: Uint8Array | null;
}

/** A message in the operator's eyes: never its text. */
export interface Listed {
  readonly id: string;
  readonly kind: string;
  /** With all but the first and last digits hidden. */
  readonly phone: string;
  readonly state: State;
  readonly reason: string | null;
  readonly attempts: number;
  readonly acceptedAt: Date;
  readonly changedAt: Date;
}
