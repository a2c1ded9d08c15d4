import type { Mutant } from "../mutant.ts";

const ofWords = ["test/messenger/reply/words.test.ts"];
const ofReplies = ["test/messenger/reply/reply.test.ts"];
const ofCrashes = ["test/messenger/reply/reply-crash.test.ts"];
const ofOptOuts = ["test/messenger/reply/opted-out.test.ts"];
const ofAnswers = ["test/messenger/reply/answer.test.ts"];
const wordsFile = "lib/messenger/reply/words.ts";
const replyFile = "lib/messenger/reply/reply.ts";
const inboundFile = "lib/messenger/channels/whatsapp/message/inbound.ts";
const senderFile = "lib/messenger/send/sender.ts";

export const reply: readonly Mutant[] = [
  {
    breaks: "A sentence that ends in STOP opts out",
    file: wordsFile,
    find: "words[bare]",
    replace: 'words[bare.split(" ").at(-1) ?? ""]',
    tests: ofWords,
    only: "is no word",
  },
  {
    breaks: "STOP in bold letters is not read",
    file: wordsFile,
    find: '    .normalize("NFKC")\n',
    replace: "",
    tests: ofWords,
  },
  {
    breaks: "Long texts are searched for a word",
    file: wordsFile,
    find: "  if (text.length > maxLength) return undefined;\n",
    replace: "",
    tests: ofWords,
    only: "is no word",
  },
  {
    breaks: "Whoever has opted out since gets reminders again for an old START",
    file: wordsFile,
    find: 'START: { wish: "in", maxAgeMs: dayMs }',
    replace: 'START: { wish: "in" }',
    tests: ofWords,
    only: "STOP counts at any age",
  },
  {
    breaks: "STOP that arrives late is ignored",
    file: wordsFile,
    find: 'STOP: { wish: "out" }',
    replace: 'STOP: { wish: "out", maxAgeMs: dayMs }',
    tests: ofWords,
    only: "STOP counts at any age",
  },
  {
    breaks: "What the account writes to itself is read",
    file: inboundFile,
    find: "!isPerson || isOwn || ",
    replace: "!isPerson || ",
    tests: ofReplies,
    only: "of the account itself",
  },
  {
    breaks: "Persons who are known by a LID cannot opt out",
    file: inboundFile,
    find: "(named ?? (await findNumber(from)) ?? undefined)",
    replace: "undefined",
    tests: ofReplies,
    only: "from a LID with its number",
  },
  {
    breaks: "STOP is lost when the messenger is killed before it is stored",
    file: "lib/messenger/channels/whatsapp/message/signal-repository.ts",
    find: "open({ ...written, set: async () => {}, transaction: (work) => work() })",
    replace: "open({ ...written, transaction: (work) => work() })",
    tests: ofCrashes,
    only: "before the opt-out is stored",
  },
  {
    breaks: "STOP is acknowledged before it is stored",
    file: "lib/messenger/channels/whatsapp/message/signal-repository.ts",
    find: "await reader.read(ciphertext, await unstored.decryptMessage(message))",
    replace: "void reader.read(ciphertext, await unstored.decryptMessage(message))",
    tests: ofCrashes,
    only: "before the opt-out is stored",
  },
  {
    breaks: "Each STOP is confirmed",
    file: replyFile,
    find: "if (!(await setPreference(sql, pepper, phone, wish))) return false;",
    replace: "await setPreference(sql, pepper, phone, wish);",
    tests: ofReplies,
    only: "STOP as a plain text",
  },
  {
    breaks: "Reminders that wait are still sent after the confirmation, if nothing else stops them",
    file: "lib/messenger/reply/preference.ts",
    find: '  if (wish === "out") await endUnwanted(sql, numbers);\n',
    replace: "",
    tests: ofOptOuts,
    only: "ends what waits",
  },
  {
    breaks: "A person whose number differs on the platform still gets reminders",
    file: "lib/messenger/reply/preference.ts",
    find: "[phone, ...others.map((other) => other.phone)].sort()",
    replace: "[phone]",
    tests: ofOptOuts,
    only: "the number that the platform has",
  },
  {
    breaks: "A reminder that was accepted just before the opt-out is sent",
    file: senderFile,
    find: "    if (await endUnwanted(options, message)) return false;\n",
    replace: "",
    tests: ofOptOuts,
    only: "had just opted out is not sent",
  },
  {
    breaks: "A bulk message that may have arrived is reported as failed",
    file: senderFile,
    find: "attempts - unsent > 1 ? outcome.markUnclear : outcome.markFailed",
    replace: "attempts - unsent > 9 ? outcome.markUnclear : outcome.markFailed",
    tests: ofOptOuts,
    only: "is being sent again",
  },
  {
    breaks: "Reminders to a number that has opted out are accepted",
    file: "lib/messenger/accept/acceptance.ts",
    find: "priorities[kind] >= priorities.reminder",
    replace: "priorities[kind] > priorities.bulk",
    tests: ofOptOuts,
    only: "are 403",
  },
  {
    breaks: "A person is answered each time",
    file: replyFile,
    find: "if (!digest || !(await claimAnswer(sql, digest))) return false;",
    replace: "if (digest) await claimAnswer(sql, digest);",
    tests: ofAnswers,
    only: "once a day",
  },
  {
    breaks: "What was written while the messenger was away is answered",
    file: replyFile,
    find: "phone === undefined || isLate || isEdit",
    replace: "phone === undefined || isEdit",
    tests: ofAnswers,
    only: "while the messenger was away",
  },
  {
    breaks: "The record of who was answered is kept",
    file: "lib/messenger/outbox/retention.ts",
    find: "delete from messaging.answered where digest in (",
    replace: "delete from messaging.answered where false and digest in (",
    tests: ofAnswers,
    only: "is deleted after a day",
  },
  {
    breaks: "A backend is told that the messenger is away when the recipient has opted out",
    file: "lib/messaging/messenger-client.ts",
    find: "[classNotAllowed([]).code, optedOut.code]",
    replace: "[classNotAllowed([]).code]",
    tests: ["test/messaging/messenger-client.test.ts"],
    only: "has opted out",
  },
];
