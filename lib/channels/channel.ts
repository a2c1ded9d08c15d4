import type { ChannelName } from "#lib/messaging/channel.ts";
import type { Outgoing } from "#lib/messenger/outbox/message.ts";

/** The platform's answer to a message. */
export type SendOutcome =
  /** With the platform's own id of the message, where it makes one. */
  | { readonly outcome: "acked"; readonly reference?: string | undefined }
  /** With the platform's error code, such as 463: no new contacts for now. Nothing of the message was sent. */
  | { readonly outcome: "rejected"; readonly code: string };

/** How the platform limits messages to new contacts. What is absent is not known. */
export interface Limits {
  /** No new contact may be written to before; null without a lock. */
  readonly lockedUntil?: Date | null;
  /** The platform has announced a lock without its end: `lockedUntil` is a guess. */
  readonly isEndUnknown?: true;
  /** The quota of new contacts of a cycle; null without one. */
  readonly cap?: { readonly total: number; readonly used: number; readonly endsAt: Date } | null;
}

/** What a platform says about numbers: where their messages go, and who has devices. */
export interface Directory {
  /** Returns the address of a number on the platform; undefined if it is not registered. */
  findAddress(phone: string): Promise<string | undefined>;
  /** Whether a message to an address can be sent without a query for devices. */
  knowsDevices(address: string): boolean;
  /** Lists the numbers of which that is true. */
  listReachable(): readonly string[];
  /** Queries the devices and keys of a recipient that are cached otherwise. */
  refreshRecipient(address: string): Promise<void>;
}

/** A platform that delivers messages to phones, as the sender uses it. */
export interface Channel {
  readonly name: ChannelName;
  /**
   * Whether phones know a second copy of a message by its id: then one without an answer is sent again. At other platforms it
   * is UNCERTAIN until the platform reports what became of it.
   */
  readonly canRepeat: boolean;
  /** Absent where messages are addressed by number. */
  readonly directory?: Directory;
  /** Whether messages can be sent now. */
  isOpen(): boolean;
  /** Builds the payload, once for each message, and uploads its media. @throws ChannelFailure, Unsendable */
  compose(message: Outgoing, address: string): Promise<Uint8Array>;
  /** @throws ChannelFailure when no answer arrived; it says whether the frame may have left. */
  send(payload: Uint8Array, message: Outgoing): Promise<SendOutcome>;
  /** Queries the limits of the connected account, where the platform has any. */
  fetchLimits?(): Promise<Limits>;
}

/** The channel has no form for a message, such as a picture without a caption as SMS. */
export class Unsendable extends Error {
  /** @param message the reason for which it fails, for its sender. */
  constructor(message: string) {
    super(message);
    this.name = "Unsendable";
  }
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
  | "not-registered"
  /** The number has an account, but the platform names no device that can receive messages. */
  | "no-device"
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

export type ConnectionState = {
  readonly since: Date;
  /** Since when it is tried again and again, also of one that is open just now. */
  readonly downSince?: Date | undefined;
} & (
  | {
      readonly kind: "closed";
      readonly code?: number | undefined;
      readonly retryAt?: Date;
      /** No phone is linked. */
      readonly unlinked?: true;
    }
  | { readonly kind: "connecting" }
  /** Waits for a phone to scan `qr`, or to enter `code`. */
  | {
      readonly kind: "pairing";
      readonly qr: string;
      readonly code?: string;
      /** A phone did so, and the platform demands its passkey too. */
      readonly passkey?: true;
    }
  | { readonly kind: "open"; readonly as: string }
  /** An operator has removed the link; pairing starts again. */
  | { readonly kind: "unpaired" }
  /** No login is tried until an operator acts; see whatsapp/codes.ts. */
  | { readonly kind: "stopped"; readonly code: number }
  /** Another connection has replaced this one; `start()` reclaims it, which only the leader may do. */
  | { readonly kind: "replaced" }
);

/** A state without its time. */
export type Stateless<S = ConnectionState> = S extends ConnectionState
  ? Omit<S, "since" | "downSince">
  : never;

/** A connection that was open for less than this is still the one that is tried again and again. */
const stableMs = 60_000;

/** Enters a state now. */
export const enterState = (before: ConnectionState, state: Stateless): ConnectionState => {
  const since = new Date();
  const wasStable = before.kind === "open" && since.getTime() - before.since.getTime() >= stableMs;
  const earlier = wasStable ? undefined : before.downSince;
  const isDown = state.kind === "closed" || state.kind === "connecting";
  const downSince = isDown ? (earlier ?? since) : state.kind === "open" ? earlier : undefined;
  return { ...state, since, ...(downSince && { downSince }) } as ConnectionState;
};

/** What a person has sent to the city's number. It must be neither stored nor logged. */
export interface Inbound {
  /** The sender's number; undefined where the platform gives only an address that does not reveal it. */
  readonly phone: string | undefined;
  /** What the person has typed or chosen; undefined for anything else, such as a picture with its caption. */
  readonly text: string | undefined;
  readonly sentAt: Date;
  /** Whether it replaces an earlier message. */
  readonly isEdit: boolean;
  /** Whether it was sent before the messenger was connected. */
  readonly isLate: boolean;
}
