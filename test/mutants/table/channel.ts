// biome-ignore-all lint/suspicious/noTemplateCurlyInString: patterns of source text
import type { Mutant } from "../mutant.ts";

const nextFile = "lib/messenger/outbox/next-channel.ts";
const outcomeFile = "lib/messenger/outbox/outcome.ts";
const policyFile = "lib/messaging/channel.ts";
const ofNext = ["test/messenger/outbox/next-channel.test.ts"];

export const channel: readonly Mutant[] = [
  {
    breaks: "A bulk message that has failed is sent by another channel",
    file: policyFile,
    find: "bulk: { unconfirmedSeconds: null, unsent: false }",
    replace: "bulk: { unconfirmedSeconds: null, unsent: true }",
    tests: ofNext,
    only: "bulk message that its channel cannot send",
  },
  {
    breaks: "A code waits a second longer for its channel",
    file: policyFile,
    find: "unconfirmedSeconds: 8",
    replace: "unconfirmedSeconds: 9",
    tests: ofNext,
    only: "without a confirmation for 8 seconds",
  },
  {
    breaks: "Who has opted out gets the reminder by another channel",
    file: outcomeFile,
    find: "reason === reasons.optedOut",
    replace: "false",
    tests: ofNext,
    only: "has opted out goes on to no channel",
  },
  {
    breaks: "A code that an earlier channel may have delivered is said to have expired unsent",
    file: outcomeFile,
    find: " or ${leftBefore(sql)})",
    replace: ")",
    tests: ofNext,
    only: "expires at the last channel",
  },
  {
    breaks: "A code that an earlier channel may have delivered is said to have failed",
    file: nextFile,
    find: "then 'UNCERTAIN' else 'FAILED' end",
    replace: "then 'FAILED' else 'FAILED' end",
    tests: ofNext,
    only: "the last channel rejects",
  },
  {
    breaks: "A code leaves the second channel at once",
    file: nextFile,
    find: "due_at = now(), ",
    replace: "",
    tests: ofNext,
    only: "each channel has 8 seconds",
  },
  {
    breaks: "A recipient who got one SMS gets nothing else any more",
    file: "lib/messenger/outbox/recipient.ts",
    find: " where messaging.takes_from_pool(account)",
    replace: "",
    tests: ofNext,
    only: "the first channel again",
  },
  {
    breaks: "A late receipt is attributed to the channel that has not delivered",
    file: "lib/messenger/outbox/state.ts",
    find: "changed_at = now(),\n        account = ${account}",
    replace: "changed_at = now()",
    tests: ofNext,
    only: "late after all",
  },
  {
    breaks: "An account reports about messages that it was not given",
    file: "lib/messenger/outbox/report.ts",
    find: " and a.channel = p.channel",
    replace: "",
    tests: ofNext,
    only: "was not given the message",
  },
  {
    breaks: "A gateway gets a message again whose request had no answer",
    file: "lib/messenger/channels/sms/channel.ts",
    find: "canRepeat: false",
    replace: "canRepeat: true",
    tests: ["test/messenger/channels-crash.test.ts"],
    only: "sends nothing twice",
  },
  {
    breaks: "Messages for an account of SMS that cannot send wait for ever",
    file: nextFile,
    find: "or (account is null and pool = any(string_to_array(${pools}, ',')))",
    replace: "",
    tests: ofNext,
    only: "no account of its channel can send, unless",
  },
  {
    breaks: "A notice that may have arrived is sent by the next channel too",
    file: nextFile,
    find: "(priority = 0 or not ${hasLeft})",
    replace: "true",
    tests: ["test/messenger/outbox/channel-races.test.ts"],
    only: "goes on to no channel when a later one fails",
  },
  {
    breaks: "A scheduled message leaves its first channel at once",
    file: "lib/messenger/outbox/store.ts",
    find: "start, start, pool",
    replace: "start, now(), pool",
    tests: ["test/messenger/outbox/channel-races.test.ts"],
    only: "has its whole time",
  },
];
