import type { Mutant } from "../mutant.ts";

const eventFile = "lib/messenger/callback/event.ts";
const busFile = "lib/messenger/callback/bus.ts";
const loopFile = "lib/messenger/callback/callbacks.ts";
const tests = ["test/messenger/callback/callbacks.test.ts"];
const ofBus = ["test/messenger/callback/bus.test.ts"];
const ofKills = ["test/messenger/callback/killed-task.test.ts"];

export const callbacks: readonly Mutant[] = [
  {
    breaks: "A change overtakes an earlier one of the same message that the address rejects",
    file: eventFile,
    find: "and earlier.given_up_at is null and earlier.seq",
    replace: "and earlier.attempts = 0 and earlier.given_up_at is null and earlier.seq",
    tests,
    only: "sent again as the same event",
  },
  {
    breaks: "A callback is lost when its task is killed",
    file: eventFile,
    find: "set attempts = attempts + 1, due_at = now() + ",
    replace: "set attempts = attempts + 1, due_at = now() + 1000 * ",
    tests: ofKills,
  },
  {
    breaks: "The previous secret signs for ever",
    file: eventFile,
    find: "case when previous_until > now() then previous_secret end",
    replace: "previous_secret",
    tests,
    only: "only the new secret signs",
  },
  {
    breaks: "The previous secret stops at once",
    file: eventFile,
    find: "case when previous_until > now() then previous_secret end",
    replace: "null",
    tests,
    only: "two secrets sign",
  },
  {
    breaks: "What an address that fails cannot get in time is tried for ever",
    file: eventFile,
    find: "given_up_at = case when retry_until <= now() then now() end",
    replace: "given_up_at = null",
    tests,
    only: "is a dead letter",
  },
  {
    breaks: "An address that does not answer holds up those of the other senders",
    file: loopFile,
    find: "await wakeup.wait(schedule.everyMs, signal);",
    replace: "await Promise.all(underWay.values());\n    await wakeup.wait(schedule.everyMs, signal);",
    tests,
    only: "does not answer delays no other",
  },
  {
    breaks: "Callbacks reach addresses that are not public",
    file: loopFile,
    find: "options.connector ?? guardConnector()",
    replace: "options.connector ?? {}",
    tests,
    only: "not public is never called",
  },
  {
    breaks: "One event that the address rejects stops all others to it",
    file: "lib/messenger/callback/post.ts",
    find: "isOfAddress: !ofEvent.includes(status)",
    replace: "isOfAddress: true",
    tests,
    only: "rejects for itself delays no other",
  },
  {
    breaks: "An event that EventBridge has not stored is lost",
    file: busFile,
    find: "answer?.FailedEntryCount === 0",
    replace: "answer",
    tests: ofBus,
    only: "not confirmed is put again",
  },
  {
    breaks: "A consumer of a bus cannot know a repetition",
    file: busFile,
    find: "event_id: id, sender",
    replace: "event_id: crypto.randomUUID(), sender",
    tests: ofBus,
    only: "not confirmed is put again",
  },
  {
    breaks: "Events on a bus are signed without what the signature covers",
    file: busFile,
    find: "return (await signer.sign(request)).headers;",
    replace: "return { ...(await signer.sign(request)).headers, host: hostname };",
    tests: ofBus,
    only: "in order, with what rules filter by",
  },
  {
    breaks: "A sender gets the changes of another sender's messages",
    file: "lib/db/migrations/0017.do.callback.sql",
    find: "from messaging.callback where sender = new.sender\n",
    replace: "from messaging.callback\n",
    tests,
    only: "another sender's address",
  },
];
