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
  /** Archives the keys of the link, then stops. */
  | "archive"
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
    reaction: "archive",
    operator: 'In the console press "Try the old link again" once; if that fails, "Pair again".',
  },
  402: {
    says: "WhatsApp has banned the account for a time.",
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
    operator: "Enter the current version in the console, or update the library and deploy.",
  },
  406: {
    says: "WhatsApp has banned the account.",
    reaction: "stop",
    operator:
      'Request a review in WhatsApp on the phone. If it is granted press "Connect again", if not, unlink and pair another number.',
  },
  408: {
    says: "The connection was lost, or no phone has scanned the QR codes.",
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

/** A phone has scanned the QR code, and the account's passkey is demanded too (Baileys #2672). */
export const passkeyDemanded = {
  says: "WhatsApp demands the account's passkey to link the messenger, which the messenger cannot use.",
  operator:
    "Do not scan again and again. Try the old link again if it was removed by mistake, or link a number whose account is not asked for a passkey.",
};

const unknown: DisconnectionRow = {
  says: "WhatsApp or the network is down.",
  reaction: "retry",
  operator: nothing,
};

export const findDisconnection = (code: number | undefined): DisconnectionRow =>
  (disconnections as Readonly<Record<number, DisconnectionRow>>)[code ?? 0] ?? unknown;
