import type { Rejection } from "../rejection.ts";

const ofTemplate = (says: string, operator: string) => ({ says, action: "fail", operator }) as const;
const wait = "Nothing, unless it lasts for an hour: then look at the platform's status page.";
const report = "Report it to the developers.";

/**
 * The codes with which the platform rejects a message, at once or in a status by webhook.
 *
 * @see https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes
 */
export const rejections = {
  "4": {
    says: "the app calls the platform too often",
    action: "slow-down",
    operator: "See the app's rate limit in the App Dashboard.",
  },
  "100": { says: "the request is invalid", action: "fail", operator: report },
  "429": {
    says: "the platform gets too many requests",
    action: "slow-down",
    operator: "Stop bulk senders. Do not raise the sending rate.",
  },
  "80007": {
    says: "the business account has reached its rate limit",
    action: "slow-down",
    operator: "Stop bulk senders. Other programs share the business account's limit.",
  },
  "130429": {
    says: "the number sends faster than the platform takes messages",
    action: "slow-down",
    operator: "Stop bulk senders. Do not raise the sending rate.",
  },
  "130472": {
    says: "the recipient is part of an experiment of the platform and gets no marketing messages",
    action: "fail",
    operator: "Nothing.",
  },
  "130497": {
    says: "the business account may not send messages to this country",
    action: "fail",
    operator: "Ask the sender to use another channel.",
  },
  "131008": { says: "a parameter is missing", action: "fail", operator: report },
  "131009": { says: "a parameter is invalid", action: "fail", operator: report },
  "131021": {
    says: "the recipient is the sending number itself",
    action: "fail",
    operator: "Ask the sender to correct the number.",
  },
  "131026": {
    says: "the number has no account that can receive the message",
    action: "fail",
    operator: "Ask the sender to check the number, or to use another channel.",
  },
  "131030": {
    says: "the recipient is not on the list of a test number",
    action: "fail",
    operator: "Use a number that is registered for production.",
  },
  "131047": {
    says: "the recipient has not written within 24 hours, and the message is no template",
    action: "fail",
    operator: report,
  },
  "131048": {
    says: "the number is restricted because recipients have blocked it or reported it as spam",
    action: "slow-down",
    operator: "Stop bulk senders and look at the number's quality in WhatsApp Manager.",
  },
  "131049": {
    says: "the platform has chosen not to deliver it, as the recipient gets many marketing messages",
    action: "fail",
    operator: "Send no more such messages to the recipient for 24 hours.",
  },
  "131050": {
    says: "the recipient has stopped marketing messages of this business",
    action: "fail",
    operator: "Take the recipient out of the sender's lists.",
  },
  "131051": { says: "the type of the message is not supported", action: "fail", operator: report },
  "131052": { says: "the platform could not download the media", action: "fail", operator: report },
  "131053": {
    says: "the platform does not take the media",
    action: "fail",
    operator: "Ask the sender to check the file.",
  },
  "131056": {
    says: "too many messages to this recipient within a short time",
    action: "wait",
    operator: "Nothing, unless many messages fail; then ask the sender to send fewer.",
  },
  "131057": { says: "the business account is in maintenance", action: "slow-down", operator: wait },
  "131063": {
    says: "marketing templates are disabled for the account",
    action: "fail",
    operator: "Enable them in WhatsApp Manager, or use utility templates.",
  },
  "131064": {
    says: "the business account has used templates of the wrong category and may send less for a time",
    action: "slow-down",
    operator: "Stop bulk senders and correct the templates' categories in WhatsApp Manager.",
  },
  "132000": ofTemplate(
    "the template has another number of parameters",
    "Give each template exactly one parameter in its body.",
  ),
  "132001": ofTemplate(
    "the template does not exist in this language or is not approved",
    "Correct name and language in the secret messenger-channels, or wait for the approval.",
  ),
  "132005": ofTemplate(
    "the template's text and the message are too long together",
    "Ask the sender for a shorter text, or shorten the template's own.",
  ),
  "132007": ofTemplate(
    "the template's content violates a policy of the platform",
    "Submit another template in WhatsApp Manager.",
  ),
  "132012": ofTemplate("a parameter has another format than the template", report),
  "132015": ofTemplate(
    "the template is paused, because recipients have reported it",
    "Edit the template in WhatsApp Manager; it is paused for hours.",
  ),
  "132016": ofTemplate(
    "the template is disabled, because recipients have reported it too often",
    "Submit another template and enter its name in the secret messenger-channels.",
  ),
  "132018": ofTemplate("a parameter of the template is invalid", report),
  "132068": ofTemplate("the template's flow is blocked", "Use a template without a flow."),
  "132069": ofTemplate("the template's flow is throttled", "Use a template without a flow."),
  "133004": { says: "the platform is temporarily unavailable", action: "slow-down", operator: wait },
  "133016": {
    says: "the number was registered too often",
    action: "slow-down",
    operator: "Wait three days, then register it.",
  },
  "134101": {
    says: "the platform still distributes the template",
    action: "wait",
    operator: "Nothing: it takes ten minutes.",
  },
  "134102": ofTemplate(
    "the platform could not distribute the template",
    "Submit it again in WhatsApp Manager.",
  ),
  "135000": { says: "the request has failed for an unknown reason", action: "fail", operator: report },
  "2494100": { says: "the number is in maintenance", action: "slow-down", operator: wait },
  other: { says: "no reason given", action: "fail", operator: "Report the code to the developers." },
} satisfies Record<string, Rejection>;

/**
 * Codes about token, account or number, which every message would get: no authentication (0, 190, HTTP 401), no permission
 * (3, 10, 131005), the number deleted (33) or not registered (131045, 133006, 133010), blocked (368, 131031), without an
 * approved name (131037), or without payment (131042).
 */
const ofAccount: readonly number[] = [
  ...[0, 3, 10, 33, 190, 368, 401],
  ...[131005, 131031, 131037, 131042, 131045, 133006, 133010],
];
export const isOfAccount = (code: number): boolean =>
  ofAccount.includes(code) || (code >= 200 && code <= 299);

/**
 * Whether the platform may nevertheless send the message: an unknown or a temporary error of its own (1, 2, 131000,
 * 131016), of which the documentation says no more than to try again, or one with a status of 5xx that is not listed.
 */
export const isAmbiguous = (status: number, code: number): boolean =>
  [1, 2, 131000, 131016].includes(code) || (status >= 500 && !Object.hasOwn(rejections, String(code)));
