/** Why a message is FAILED, EXPIRED or UNCERTAIN, or SENT without being readable, besides the platform's codes. */
export const reasons = {
  unanswered: "the platform gave no answer",
  expired: "not sent before it expired",
  unregistered: "the number is not registered on the platform",
  deviceless: "the platform names no device of the number that can receive messages",
  unprepared: "the message could not be prepared",
  undecryptable:
    'the recipient\'s phone could not decrypt the message and shows "Waiting for this message"; send it again as a new one',
};

export type ReasonName = keyof typeof reasons;
