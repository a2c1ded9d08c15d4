// biome-ignore-all lint/suspicious/noTemplateCurlyInString: patterns of source text
import type { Mutant } from "../mutant.ts";

const senderFile = "lib/session/sender.ts";
const ofSender = ["test/session/sender.test.ts"];
const pacingFile = "lib/session/pacing.ts";
const ofPacing = ["test/session/pacing.test.ts"];
const sendingFile = "lib/session/sending.ts";
const ofSending = ["test/session/sending.test.ts"];

export const sender: readonly Mutant[] = [
  {
    breaks: "Code 463 for a known contact is retried at once",
    file: senderFile,
    find: "const delaySeconds = message.isNewContact ? 0 : newContactPauseMs / 1_000;",
    replace: "const delaySeconds = message.isNewContact ? newContactPauseMs / 1_000 : 0;",
    tests: ofSender,
    only: "463",
  },
  {
    breaks: "Code 463 does not hold other new contacts back",
    file: senderFile,
    find: "pacing.pauseNewContacts(Date.now() + newContactPauseMs);",
    replace: "pacing.pauseNewContacts(Date.now() - newContactPauseMs);",
    tests: ofSender,
    only: "463",
  },
  {
    breaks: "Messages go out while the operator has paused them",
    file: "lib/session/outbox.ts",
    find: "and not exists (select from messaging.control where paused)",
    replace: "and exists (select from messaging.control)",
    tests: ofSender,
    only: "operator has paused",
  },
  {
    breaks: "Messages are taken while the platform is away",
    file: senderFile,
    find: "const delayMs = messenger.isOpen() ? pacing.nextAt() - now : idleMs;",
    replace: "const delayMs = pacing.nextAt() - now;",
    tests: ofSender,
    only: "platform is away",
  },
  {
    breaks: "A leader whose epoch is over goes on taking messages",
    file: "lib/session/outbox.ts",
    find: "    and exists (select from term)\n",
    replace: "",
    tests: ofSender,
    only: "epoch is over",
  },
  {
    breaks: "A term begins while the leader before is still taking a message",
    file: "lib/session/outbox.ts",
    find: "where epoch = ${epoch} for share\n",
    replace: "where epoch = ${epoch}\n",
    tests: ofSender,
    only: "handed over whole",
  },
  {
    breaks: "A message is composed anew for its second send",
    file: senderFile,
    find: "if (message.payload) return open(message.id, message.payload);",
    replace: "if (message.payload?.length === 0) return open(message.id, message.payload);",
    tests: ofSender,
    only: "same payload|no answer",
  },
  {
    breaks: "A message that the platform has is sent again when the database fails before it is noted",
    file: senderFile,
    find: "await insist(() => markSent(sql, message), options.signal);",
    replace: "await markSent(sql, message);",
    tests: ofSender,
    only: "when the database fails",
  },
  {
    breaks: "A message that cannot be made is tried once more than allowed",
    file: senderFile,
    find: "if (attempts >= maxPreparations) {",
    replace: "if (attempts > maxPreparations) {",
    tests: ofSender,
    only: "cannot be made",
  },
  {
    breaks: "A number stays a new contact after it was written to, and uses their budget up",
    file: "lib/session/outbox.ts",
    find: 'not exists (select from messaging.contact c where c.phone = taken.phone) as "isNewContact"',
    replace: 'exists (select from messaging.contact c where c.phone = taken.phone) as "isNewContact"',
    tests: ofSender,
    only: "new contact once",
  },
  {
    breaks: "The budget for new contacts is forgotten after an hour",
    file: pacingFile,
    find: "while ((this.#newContactsAt[0] ?? now) < now - dayMs)",
    replace: "while ((this.#newContactsAt[0] ?? now) < now - hourMs)",
    tests: ofPacing,
  },
  {
    breaks: "The budget for new contacts begins anew with every leader",
    file: pacingFile,
    find: "this.#newContactsAt = [...history.newContactsAt];",
    replace: "this.#newContactsAt = [];",
    tests: ofPacing,
  },
  {
    breaks: "The limit of an hour holds for a minute",
    file: pacingFile,
    find: "freeAt(this.#sentAt, perHour, hourMs)",
    replace: "freeAt(this.#sentAt, perHour, minuteMs)",
    tests: ofPacing,
  },
  {
    breaks: "The limit of a day holds for an hour",
    file: pacingFile,
    find: "freeAt(this.#sentAt, this.#dailyCap(), dayMs)",
    replace: "freeAt(this.#sentAt, this.#dailyCap(), hourMs)",
    tests: ofPacing,
  },
  {
    breaks: "A fresh number starts on the second step of its warm-up",
    file: pacingFile,
    find: "this.#pace.warmUp[this.#daysOfUse]",
    replace: "this.#pace.warmUp[this.#daysOfUse + 1]",
    tests: ofPacing,
  },
  {
    breaks: "The gaps are doubled at all times but after a new connection",
    file: pacingFile,
    find: "now < this.#rampUntil ? 2 * gap : gap",
    replace: "now > this.#rampUntil ? 2 * gap : gap",
    tests: ofPacing,
  },
  {
    breaks: "A gap is longer than the pace says",
    file: pacingFile,
    find: "this.#random() * (most - least)",
    replace: "this.#random() * most",
    tests: ofPacing,
  },
  {
    breaks: "A receipt that overtakes the ack is no answer",
    file: sendingFile,
    find: 'tag === "receipt" ?',
    replace: 'tag === "receipts" ?',
    tests: ofSending,
    only: "overtakes the ack",
  },
  {
    breaks: "A message for nobody goes out when the question for the recipient's devices is not answered",
    file: sendingFile,
    find: "    await requireDevices(socket, own, jid);\n",
    replace: "    if (!own) await requireDevices(socket, own, jid);\n",
    tests: ofSending,
    only: "without an account",
  },
];
