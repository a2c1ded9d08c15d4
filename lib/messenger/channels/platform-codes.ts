/** What the messenger does about a message that the platform rejects. */
export const actions = {
  /**
   * The platform locks out new contacts for a time: no new contact is written to before its end, and the message is sent once
   * more after it. A message to a known contact waits as long, without holding back others.
   */
  pause:
    "waits until the platform's limit for new contacts ends, or for an hour if it names none; then sends it once more",
  /** A cap on new chats if the platform confirms it, or else like `refresh`. */
  "pause-if-capped":
    "waits until the end of the platform's cap on new chats; if there is none, queries devices and keys and sends it once more",
  wait: "waits 10 s, then twice as long each time up to 15 min, and sends it up to 12 times more",
  /** All messages wait. */
  "slow-down": "like 5xx, and sends nothing else in the meantime",
  refresh: "queries the recipient's devices and keys again and sends it once more",
  fail: "does not send it again",
} as const;

export type Action = keyof typeof actions;

export interface Refusal {
  /** The end of the sentence "rejected by the platform: …". */
  readonly says: string;
  readonly action: Action;
  readonly operator: string;
}

/**
 * The codes with which the platform rejects a message, in its ack. WhatsApp documents none of them: the names are those of
 * WhatsApp Web (`NackReason`) and what the users of its libraries report.
 *
 * @see https://github.com/WhiskeySockets/Baileys/issues/2441 463
 * @see https://github.com/devlikeapro/waha/pull/2186 475
 * @see https://github.com/tulir/whatsmeow/issues/922 479
 * @see https://github.com/oxidezap/whatsapp-rust/issues/941 400
 */
export const refusals = {
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
    says: "the account must not write to this contact now",
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
    operator: "Wait. If it lasts for hours, look for reports of an outage of WhatsApp.",
  },
  "no device": {
    says: "the number has no device that receives messages",
    action: "fail",
    operator: "Ask the sender to correct the number.",
  },
  other: {
    says: "for a reason that it does not explain",
    action: "fail",
    operator: "Report the code to the developers.",
  },
} satisfies Record<string, Refusal>;

const byCode = new Map<string, Refusal>(Object.entries(refusals));

export const refusalOf = (code: string): Refusal =>
  byCode.get(code) ?? byCode.get(code.replace(/^(\d)\d\d$/, "$1xx")) ?? refusals.other;

/** Describes the rejection as the reason of a failed message. */
export const describeRefusal = (code: string): string =>
  `rejected by the platform, code ${code}: ${refusalOf(code).says}`;
