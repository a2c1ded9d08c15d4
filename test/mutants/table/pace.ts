// biome-ignore-all lint/suspicious/noTemplateCurlyInString: patterns of source text
import type { Mutant } from "../mutant.ts";

const ofRejections = ["test/messenger/send/rejections.test.ts"];
const pacingFile = "lib/messenger/send/pacing.ts";
const ofPacing = ["test/messenger/send/pacing.test.ts"];
const ofRefusals = ["test/messenger/moods/refusals.test.ts"];
const ofLanes = ["test/messenger/send/lanes.test.ts"];

export const pace: readonly Mutant[] = [
  {
    breaks: "Messages that wait for their answers exceed the pace",
    file: pacingFile,
    find: "    this.#underWay.add(message);\n",
    replace: "",
    tests: ofLanes,
    only: "counts a message that has no answer yet",
  },
  {
    breaks: "An upload is sent at once, whatever was sent meanwhile",
    file: pacingFile,
    find: "const all = [...this.#limits(now), ",
    replace: "const all = [",
    tests: ofLanes,
    only: "observed by an upload",
  },
  {
    breaks: "A lock ends with the task",
    file: "lib/messenger/send/history.ts",
    find: "lockedUntil: now + (lockedFor ?? 0) * 1_000,",
    replace: "lockedUntil: now + (pausedFor ?? 0) * 1_000,",
    tests: ofRefusals,
    only: "a lock survives a restart",
  },
  {
    breaks: "The console says that a stop after 429 ends at once",
    file: pacingFile,
    find: "stoppedSeconds: (this.#stoppedUntil - now) / 1_000",
    replace: "stoppedSeconds: (this.#stoppedUntil - now) / 1_000_000",
    tests: ofRefusals,
    only: "after code 429",
  },
  {
    breaks: "A cap ends with the task",
    file: "lib/messenger/send/history.ts",
    find: "cap: total === null ? null : ",
    replace: "cap: total === null || endsIn ? null : ",
    tests: ofRefusals,
    only: "a cap survives a restart",
  },
  {
    breaks: "A pause of new contacts ends with the task",
    file: "lib/messenger/send/history.ts",
    find: "pausedUntil: now + (pausedFor ?? 0) * 1_000,",
    replace: "pausedUntil: now - (pausedFor ?? 0) * 1_000,",
    tests: ofRefusals,
    only: "a pause after 463 without an answer survives a restart",
  },
  {
    breaks: "A replacement number inherits the warm-up of the old one",
    file: "lib/messenger/send/history.ts",
    find: "from messaging.contact\n    where account = ${account}`;",
    replace: "from messaging.contact`;",
    tests: ["test/messenger/outbox/outbox.test.ts"],
    only: "the history",
  },
  {
    breaks: "New contacts are not slowed down near the cap",
    file: pacingFile,
    find: "used < slowFrom * cap.total",
    replace: "used < cap.total",
    tests: ofPacing,
    only: "near the platform's cap",
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
    find: "freeAt(this.#sentAt, perHour - size, hourMs)",
    replace: "freeAt(this.#sentAt, perHour - size, minuteMs)",
    tests: ofPacing,
  },
  {
    breaks: "The limit of a day holds for an hour",
    file: pacingFile,
    find: "freeAt(this.#sentAt, this.#dailyCap(now) - size, dayMs)",
    replace: "freeAt(this.#sentAt, this.#dailyCap(now) - size, hourMs)",
    tests: ofPacing,
  },
  {
    breaks: "A fresh number starts on the second step of its warm-up",
    file: pacingFile,
    find: "this.#pace.warmUp[day]",
    replace: "this.#pace.warmUp[day + 1]",
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
    breaks: "A shorter rest ends a longer one",
    file: "lib/messenger/send/pacing.ts",
    find: "Math.max(until, this.#byRecipient.get(phone) ?? 0)",
    replace: "until",
    tests: ["test/messenger/send/pacing.test.ts"],
  },
  {
    breaks: "A shorter pause of new contacts ends a longer one",
    file: "lib/messenger/send/pacing.ts",
    find: "this.#pausedUntil = Math.max(this.#pausedUntil, until);",
    replace: "this.#pausedUntil = until;",
    tests: ["test/messenger/send/pacing.test.ts"],
  },
  {
    breaks: "New contacts that have no answer yet exceed the platform's cap",
    file: pacingFile,
    find: "const used = (cap?.used ?? 0) + underWay;",
    replace: "const used = cap?.used ?? 0;",
    tests: ofPacing,
    only: "count for the platform's cap",
  },
  {
    breaks: "The wait after 429 ends with the task",
    file: "lib/messenger/send/history.ts",
    find: "stoppedUntil: now + (stoppedFor ?? 0) * 1_000,",
    replace: "stoppedUntil: now - (stoppedFor ?? 0) * 1_000,",
    tests: ofRejections,
    only: "after code 429 survives",
  },
];
