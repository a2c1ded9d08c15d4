import type { Outgoing } from "../outbox/message.ts";

/** The platform's answer to a message. */
export type SendOutcome =
  | { readonly outcome: "acked" }
  /** With the platform's error code, such as 463: no new contacts for now. */
  | { readonly outcome: "refused"; readonly code: string };

/** How the platform limits messages to new contacts. What is absent is not known. */
export interface Limits {
  /** No new contact may be written to before; null without a lock. */
  readonly lockedUntil?: Date | null;
  /** The platform has announced a lock without its end: `lockedUntil` is a guess. */
  readonly isEndUnknown?: true;
  /** The quota of new contacts of a cycle; null without one. */
  readonly cap?: { readonly total: number; readonly used: number; readonly endsAt: Date } | null;
}

/** A platform that delivers messages to phones, as the sender uses it. */
export interface Channel {
  /** Whether messages can be sent now. */
  isOpen(): boolean;
  /** Returns the address of a number on the platform; undefined if it is not registered. */
  findAddress(phone: string): Promise<string | undefined>;
  /** Builds the payload, once for each message, and uploads its media. */
  compose(message: Outgoing, address: string): Promise<Uint8Array>;
  /** @throws ChannelFailure when no answer arrived; it says whether the frame may have left. */
  send(payload: Uint8Array, message: Outgoing): Promise<SendOutcome>;
  /** Queries the limits of the connected account. */
  fetchLimits(): Promise<Limits>;
  /** Whether a message to an address can be sent without a query for devices. */
  knowsDevices(address: string): boolean;
  /** Lists the numbers of which that is true. */
  listReachable(): readonly string[];
  /** Queries the devices and keys of a recipient that are cached otherwise. */
  refreshRecipient(address: string): Promise<void>;
}

export type ChannelFailureReason =
  /** No connection is open. */
  | "not-connected"
  /** The connection broke before the answer arrived. */
  | "connection-lost"
  /** The platform did not answer in time. */
  | "no-answer"
  /** The caller's signal was aborted. */
  | "aborted"
  /** The number has no account. */
  | "no-recipient"
  /** The number has an account, but the platform names no device that can receive messages. */
  | "no-devices"
  /** The platform failed to answer for numbers, devices or keys: this may concern all messages that need such an answer. */
  | "directory-failed"
  /** No media server could accept the media: this may concern all uploads. */
  | "upload-failed"
  /** Anything else. */
  | "failed";

/** The error code of Boom, PostgreSQL or Node; undefined for anything that does not look like one. */
export const errorCode = (error: object): string | undefined => {
  const { code, output } = error as { code?: unknown; output?: { statusCode?: unknown } };
  const text = String(output?.statusCode ?? code ?? "");
  return /^[A-Z0-9_]{1,32}$/.test(text) ? text : undefined;
};

export const errorName = (error: Error): string => (/^\w{1,40}$/.test(error.name) ? error.name : "Error");

/** Name and code of the library's error, without its message and data: they contain numbers, stanzas and keys. */
const describe = (error: unknown): string =>
  error instanceof Error ? ` (${[errorName(error), errorCode(error)].filter(Boolean).join(" ")})` : "";

export class ChannelFailure extends Error {
  readonly reason: ChannelFailureReason;
  /** Whether the platform may have the message: then it may be sent again only with the same id. */
  readonly mayHaveLeft: boolean;
  /** The code of the library's error, or of the database's if the library was reading or writing keys. */
  readonly code: string | undefined;

  /** @param cause the library's error, of which only name and code are stored. */
  constructor(reason: ChannelFailureReason, mayHaveLeft: boolean, cause?: unknown) {
    super(`channel failure: ${reason}${describe(cause)}`);
    this.name = "ChannelFailure";
    this.reason = reason;
    this.mayHaveLeft = mayHaveLeft;
    this.code = cause instanceof Error ? errorCode(cause) : undefined;
  }
}
