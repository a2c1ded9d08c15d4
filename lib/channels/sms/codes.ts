import { ChannelFailure, type SendOutcome } from "../channel.ts";
import type { ChannelAnswer } from "../exchange.ts";
import type { Rejection } from "../rejection.ts";
import { findCode, findId, findText, lookUp, readFields } from "./fields.ts";
import type { SmsSettings } from "./settings.ts";

/** What a rejection of a gateway says, by the HTTP status that it has or stands for; any other code is the gateway's own. */
export const smsRejections = {
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
} as const satisfies Record<string, Rejection>;

/** Whether a code is one of ours rather than a gateway's. */
const isOwnCode = (code: string): code is keyof typeof smsRejections => Object.hasOwn(smsRejections, code);

/** What an answer says about the message, or about the account. */
export type Verdict = SendOutcome | { readonly outcome: "account-rejected"; readonly status: number };

/** As in `ChannelEvents`. */
const maxReferenceLength = 255;

/** @throws ChannelFailure because the gateway may have sent it, for the log with a status or a word of ours. */
const leaveOpen = (code: string): never => {
  throw new ChannelFailure("no-answer", true, Object.assign(new Error(), { code }));
};

/** @throws ChannelFailure for an answer of 2xx without what it must have: a proxy's or a login page has 200 too. */
const accept = ({ reference: place }: SmsSettings, fields: unknown): Verdict => {
  const reference = findId(fields, place, maxReferenceLength);
  if (place !== undefined && reference === undefined) return leaveOpen("NO_REFERENCE");
  return { outcome: "acked", reference };
};

/**
 * Reads a gateway's answer by the account's settings.
 *
 * @throws ChannelFailure when it leaves open whether the message was sent: 5xx, 408 (RFC 9110, 15.5.9), a redirect, or
 * another text than the settings describe.
 */
export const judge = (settings: SmsSettings, { status, text }: ChannelAnswer): Verdict => {
  const { accepted, statuses } = settings;
  const fields = readFields(text);
  const said = findText(fields, accepted?.field);
  const isSuccess = status >= 200 && status < 300;
  if (isSuccess && !accepted) return accept(settings, fields);
  if (isSuccess && said === undefined) return leaveOpen("UNREADABLE");
  if (isSuccess && said !== undefined && accepted?.values.includes(said)) return accept(settings, fields);
  const meaning = lookUp(statuses, said) ?? lookUp(statuses, String(status)) ?? (isSuccess ? 400 : status);
  if (meaning === 401 || meaning === 403) return { outcome: "account-rejected", status: meaning };
  if (meaning < 400 || meaning >= 500 || meaning === 408) return leaveOpen(`STATUS_${meaning}`);
  if (isOwnCode(String(meaning))) return { outcome: "rejected", code: String(meaning) };
  const codes = [findCode(fields, settings.code), findCode(fields, accepted?.field)];
  // a gateway's own number 429 is not the status 429
  const code = codes.find((one) => one !== undefined && !isOwnCode(one)) ?? String(meaning);
  return { outcome: "rejected", code };
};
