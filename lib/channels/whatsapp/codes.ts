import type { Rejection } from "../rejection.ts";

/**
 * The codes with which the platform rejects a message, in its ack. WhatsApp documents none of them: the names are those of
 * WhatsApp Web (`NackReason`) and what the users of its libraries report.
 *
 * @see https://github.com/WhiskeySockets/Baileys/issues/2441 463
 * @see https://github.com/devlikeapro/waha/pull/2186 475
 * @see https://github.com/tulir/whatsmeow/issues/922 479
 * @see https://github.com/oxidezap/whatsapp-rust/issues/941 400
 */
export const rejections = {
  "400": {
    says: "the message or the address of its recipient is invalid",
    action: "fail",
    operator: "Report it to the developers if other numbers get it too.",
  },
  "404": {
    says: "the number has no account",
    action: "fail",
    operator: "Ask the sender to correct the number.",
  },
  "421": {
    says: "the recipient's address has changed",
    action: "refresh",
    operator: "Nothing, unless many messages fail; then report it to the developers.",
  },
  "429": {
    says: "the account sends too fast",
    action: "slow-down",
    operator: "Stop bulk senders. Do not raise the sending rate.",
  },
  "463": {
    says: "the account may not message this contact at present",
    action: "pause",
    operator:
      "Stop bulk senders and ask people to write to the number first. Do not restart the task or unlink the phone.",
  },
  "475": {
    says: "the account has reached its cap on new chats",
    action: "pause-if-capped",
    operator: "Stop bulk senders until the end of the cycle, which the console shows.",
  },
  "479": {
    says: "the recipient's devices or keys are out of date",
    action: "refresh",
    operator: "Nothing, unless many messages fail; then report it to the developers.",
  },
  "5xx": {
    says: "the platform has an internal error",
    action: "wait",
    operator:
      "Messages that have failed must be sent again. If it lasts for hours, look for reports of an outage of WhatsApp.",
  },
  not_registered: {
    says: "the number is not registered on the platform",
    action: "fail",
    operator: "Ask the sender to correct the number.",
  },
  other: {
    says: "no reason given",
    action: "fail",
    operator: "Report the code to the developers.",
  },
} satisfies Record<string, Rejection>;

export type RejectionCode = keyof typeof rejections;

/** Returns the row that applies to a code of the platform. */
export const findRejectionCode = (code: string): RejectionCode =>
  [code, code.replace(/^(\d)\d\d$/, "$1xx")].find((key): key is RejectionCode =>
    Object.hasOwn(rejections, key),
  ) ?? "other";

/** What the messenger does after the platform has closed the connection or rejected a login. */
export type Reaction =
  /** Reconnects at once. */
  | "restart"
  /** Reconnects with growing delays of 1 to 60 s. */
  | "retry"
  /** Reconnects every five minutes. */
  | "retry-slowly"
  /** Tries no login before the time that the platform names. */
  | "wait"
  /** Looks up the current version once, then stops. */
  | "update"
  /** Deletes the keys of the link, then stops. */
  | "relink"
  /** Tries no login until an operator acts in the console. */
  | "stop"
  /** Leaves the connection to the other program, and reclaims it after 10 s. */
  | "yield";

export interface DisconnectionRow {
  /** What the code says, for the operator. */
  readonly says: string;
  readonly reaction: Reaction;
  readonly operator: string;
}

const nothing = "Nothing, unless it lasts for an hour: then tell the developers.";

/**
 * The codes with which the platform closes a connection or rejects a login. The runbook has the same rows.
 *
 * Sources: Baileys' `DisconnectReason`, Baileys #1490, whatsmeow's `ConnectFailureReason`.
 */
export const disconnections = {
  401: {
    says: "WhatsApp has removed the link: on the phone, after 14 days offline, or by mistake.",
    reaction: "relink",
    operator: 'In the console press "Pair again", then link the phone.',
  },
  402: {
    says: "WhatsApp has temporarily banned the account.",
    reaction: "wait",
    operator: "Wait until the time in the console. Find out what was sent to whom, and send less.",
  },
  403: {
    says: "WhatsApp has locked the account.",
    reaction: "stop",
    operator:
      'Open WhatsApp on the phone and follow its instructions. Then press "Connect again", or unlink and pair another number.',
  },
  405: {
    says: "WhatsApp rejects the version of the web client that the messenger announces.",
    reaction: "update",
    operator:
      'Set the current version in the stage (`webVersion`), or update the library, and deploy; then press "Connect again".',
  },
  406: {
    says: "WhatsApp has banned the account.",
    reaction: "stop",
    operator:
      'Request a review in WhatsApp on the phone. If it is granted press "Connect again", if not, unlink and pair another number.',
  },
  408: {
    says: "Cannot reach WhatsApp.",
    reaction: "retry",
    operator: nothing,
  },
  409: {
    says: "WhatsApp rejects the messenger's user agent.",
    reaction: "retry-slowly",
    operator: "Tell the developers: the library must be updated.",
  },
  411: {
    says: "The phone's WhatsApp does not support linked devices.",
    reaction: "retry-slowly",
    operator: "Update WhatsApp on the phone.",
  },
  419: {
    says: "WhatsApp rejects the credentials.",
    reaction: "retry-slowly",
    operator: "If it lasts for an hour, unlink and pair again.",
  },
  428: { says: "WhatsApp has closed the connection.", reaction: "retry", operator: nothing },
  440: {
    says: "Another program uses this link and has replaced the connection.",
    reaction: "yield",
    operator: "Stop the other program.",
  },
  500: { says: "WhatsApp reports an error in the connection.", reaction: "retry", operator: nothing },
  503: { says: "WhatsApp is unavailable.", reaction: "retry", operator: nothing },
  515: { says: "WhatsApp requests a restart of the connection.", reaction: "restart", operator: nothing },
} as const satisfies Record<number, DisconnectionRow>;

/** A phone has scanned the QR code, and the account's passkey is required too (Baileys #2672). */
export const passkeyRequired = {
  says: "WhatsApp requires the account's passkey to link the messenger, which the messenger cannot use.",
  operator: "Do not scan again and again. Link a number whose account is not asked for a passkey.",
};

/** What 408 says while no phone is linked: the QR codes of one connection are valid for some minutes. */
export const unscanned = {
  says: "No phone scanned the QR code in time; open a new one.",
  operator: "Link a phone while a QR code is shown.",
};

export const unknownDisconnection: DisconnectionRow = {
  says: "WhatsApp or the network is down.",
  reaction: "retry",
  operator: nothing,
};

export const findDisconnection = (code: number | undefined): DisconnectionRow =>
  (disconnections as Readonly<Record<number, DisconnectionRow>>)[code ?? 0] ?? unknownDisconnection;
