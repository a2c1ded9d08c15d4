import type { Mutant } from "../mutant.ts";

/** What a phone shows, and how media reach it. */
export const shown: readonly Mutant[] = [
  {
    breaks: "Media are offered to every host although their auth has expired",
    file: "lib/messenger/channels/whatsapp/message/upload.ts",
    find: "if (error instanceof AuthExpired) break;",
    replace: "",
    tests: ["test/messenger/moods/shown.test.ts"],
    only: "auth has expired",
  },
  {
    breaks: "Expired auth is used until it would have expired anyway",
    file: "lib/messenger/channels/whatsapp/message/upload.ts",
    find: "return tryConn(true);",
    replace: "return tryConn(false);",
    tests: ["test/messenger/moods/shown.test.ts"],
    only: "auth has expired",
  },
  {
    breaks: "The thumbnail of an image lies on its side",
    file: "lib/messenger/channels/preview.ts",
    find: "    .autoOrient()\n",
    replace: "",
    tests: ["test/messenger/moods/shown.test.ts"],
    only: "upright",
  },
  {
    breaks: "An image that can be viewed once remains visible as a thumbnail",
    file: "lib/messenger/channels/whatsapp/message/composition.ts",
    find: "if (viewOnce) return { imageMessage: { ...image, viewOnce } };",
    replace: "if (viewOnce) Object.assign(image, { viewOnce });",
    tests: ["test/messenger/moods/shown.test.ts"],
    only: "viewed only once",
  },
  {
    breaks: "An archive's type hides that it is a document",
    file: "lib/messenger/accept/media-type.ts",
    find: "!containers.includes(detected)",
    replace: "!undeclared.includes(detected)",
    tests: ["test/messenger/accept/source.test.ts"],
    only: "its name says of an archive",
  },
  {
    breaks: "A message disappears after a time that no phone knows",
    file: "lib/messenger/outbox/store.ts",
    find: "toKnownDuration(duration_seconds)",
    replace: "duration_seconds || toKnownDuration(0)",
    tests: ["test/messenger/moods/shown.test.ts"],
    only: "disappears after 1 s",
  },
  {
    breaks: "A message that a phone cannot decrypt looks as if it were on its way",
    file: "lib/messenger/channels/whatsapp/receipt.ts",
    find: "Number(count) >= lastRequest",
    replace: "Number(count) > lastRequest",
    tests: ["test/messenger/moods/shown.test.ts"],
    only: "can never decrypt",
  },
];
