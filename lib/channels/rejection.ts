/** What the messenger does about a message that the platform rejects. */
export const actions = {
  /**
   * The platform locks out new contacts for a time: no new contact is written to before its end, and the message is sent once
   * more after it. A message to a known contact waits as long, without holding back others.
   */
  pause:
    "waits until the platform's limit for new contacts ends, or for an hour if it names none; then sends it once more",
  /** A cap on new chats, unless the platform denies it: then like `refresh`. */
  "pause-if-capped":
    "waits until the end of the platform's cap on new chats, or for an hour if the platform does not say whether there is one, then sends it once more; if there is none, queries devices and keys first, without waiting",
  wait: "waits 10 s, then twice as long each time up to 15 min, and sends it up to 12 times more",
  /** As `wait`, which the runbook has at 5xx; all messages wait. */
  "slow-down": "like 5xx, and sends nothing else in the meantime",
  refresh: "queries the recipient's devices and keys again and sends it once more",
  fail: "does not send it again",
} as const;

export type Action = keyof typeof actions;

export interface Rejection {
  /** The end of the sentence "rejected by the platform: …". */
  readonly says: string;
  readonly action: Action;
  readonly operator: string;
}
