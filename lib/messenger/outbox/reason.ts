/** Why a message is FAILED, EXPIRED or UNCERTAIN, or SENT without being readable, besides the platform's codes. */
export const reasons = {
  unanswered: "the platform gave no answer",
  // before what they start with, by which the console finds them
  expiredWithoutMedia: "not sent before it expired; no media server of the platform accepted its media",
  expiredWithoutDirectory:
    "not sent before it expired; the platform did not answer for its number or devices",
  expired: "not sent before it expired",
  unclear: "its outcome could not be stored; see the messenger's log",
  unregistered: "the number is not registered on the platform",
  deviceless: "the platform names no device of the number that can receive messages",
  optedOut: "the recipient has opted out",
  unprepared: "the message could not be prepared",
  undecryptable:
    'the recipient\'s phone could not decrypt the message and shows "Waiting for this message"; send it again as a new one',
};

export type ReasonName = keyof typeof reasons;
