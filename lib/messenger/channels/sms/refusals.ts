import type { Refusal } from "../platform-codes.ts";

/** What a rejection of a gateway says, by the HTTP status that it has or stands for; any other code is the gateway's own. */
export const smsRefusals = {
  "402": {
    says: "the account at the SMS gateway has no credit left",
    action: "slow-down",
    operator: "Top up the account at the gateway.",
  },
  "429": {
    says: "the account sends faster than the SMS gateway allows",
    action: "slow-down",
    operator:
      "Nothing, unless it lasts: then lower the sending rate of the number, or ask the gateway for more.",
  },
  other: {
    says: "the SMS gateway rejects the message",
    action: "fail",
    operator:
      "Look up the code in the gateway's documentation. If all messages have it, correct the account's settings.",
  },
} as const satisfies Record<string, Refusal>;

/** Whether a code is one of ours rather than a gateway's. */
export const isOwnCode = (code: string): code is keyof typeof smsRefusals => Object.hasOwn(smsRefusals, code);

export const findSmsRefusal = (code: string): Refusal => smsRefusals[isOwnCode(code) ? code : "other"];
