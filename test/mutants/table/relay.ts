import type { Mutant } from "../mutant.ts";

const senderFile = "lib/messenger/send/sender.ts";
const ofRejections = ["test/messenger/send/rejections.test.ts"];
const refusalFile = "lib/messenger/send/refusal.ts";
const ofRefusals = ["test/messenger/moods/refusals.test.ts"];
const sendingFile = "lib/messenger/channels/whatsapp/relay.ts";
const ofSending = ["test/messenger/channels/whatsapp/relay.test.ts"];
const addressFile = "lib/messenger/channels/whatsapp/address.ts";
const ofAddressing = ["test/messenger/moods/addressing.test.ts"];

export const relay: readonly Mutant[] = [
  {
    breaks: "An HTTP error in place of the connection leaves the messenger connecting for ever",
    file: "lib/messenger/channels/whatsapp/connection.ts",
    find: '  socket.ws.on("unexpected-response", () => raw.terminate());\n',
    replace: "",
    tests: ["test/messenger/channels/whatsapp/connection.test.ts"],
    only: "an HTTP error in place",
  },
  {
    breaks: "Messages go to the number of a contact that is on LIDs",
    file: addressFile,
    find: "unmigrated.has(socket) ? jid : ((await findLid(socket, jid)) ?? jid);",
    replace: "unmigrated.has(socket) ? ((await findLid(socket, jid)) ?? jid) : jid;",
    tests: ofAddressing,
    only: "where both addresses",
  },
  {
    breaks: "An account that may not use LIDs reaches nobody",
    file: addressFile,
    find: "const other = wasLid ? jid : await findLid(socket, jid);",
    replace: "const other = wasLid ? undefined : await findLid(socket, jid);",
    tests: ofAddressing,
    only: "the number is used under the same id",
  },
  {
    breaks: "The account's privacy token is issued for each message",
    file: "lib/messenger/channels/whatsapp/privacy-token.ts",
    find: "  await keys.set({ tctoken: { [contact]: entry } });\n",
    replace: "  if (!entry) await keys.set({});\n",
    tests: ofAddressing,
    only: "given the account's token",
  },
  {
    breaks: "Tokens in the recent history are not stored",
    file: "lib/messenger/channels/whatsapp/connection.ts",
    find: "({ syncType }) => syncType !== baileys.proto.Message.HistorySyncType.FULL,",
    replace: "() => false,",
    tests: ofAddressing,
    only: "brings it",
  },
  {
    breaks: "A number without devices is reported as a message that could not be prepared",
    file: senderFile,
    find: "const reason = isWithoutDevices(error)",
    replace: "const reason = !isWithoutDevices(error)",
    tests: ofAddressing,
    only: "a number without devices",
  },
  {
    breaks: "A code that never left is reported as uncertain when it expires",
    file: "lib/messenger/outbox/outcome.ts",
    find: "set state = case when attempts > unsent then",
    replace: "set state = case when attempts > 0 then",
    tests: ofAddressing,
    only: "a number without devices",
  },
  {
    breaks: "A number is sent to as it was asked for, not as the platform writes it",
    file: "lib/messenger/channels/whatsapp/composition.ts",
    find: "const { jid = jidOf(phone) } = composition;",
    replace: "const jid = jidOf(phone);",
    tests: ofAddressing,
    only: "writes otherwise",
  },
  {
    breaks: "Code 463 for a known contact is retried at once",
    file: refusalFile,
    find: "if (!message.isNewContact) return holdBack(options, message, seconds);",
    replace: "if (!message.isNewContact) return 0;",
    tests: ofRejections,
    only: "463",
  },
  {
    breaks: "Code 463 does not hold other new contacts back",
    file: "lib/messenger/send/limits.ts",
    find: "pacing.pauseNewContacts(steadyNow() + seconds * 1_000);",
    replace: "pacing.pauseNewContacts(steadyNow() - seconds * 1_000);",
    tests: ofRejections,
    only: "463",
  },
  {
    breaks: "A message is sent again after a second 463",
    file: refusalFile,
    find: "  pause: 1,\n",
    replace: "  pause: 2,\n",
    tests: ofRefusals,
    only: "after the lock has ended",
  },
  {
    breaks: "A message is sent again with the old keys after 479",
    file: refusalFile,
    find: "await channel.refreshRecipient(address)",
    replace: "await Promise.resolve()",
    tests: ofRefusals,
    only: "until devices and keys",
  },
  {
    breaks: "Every sent message stays in memory until the connection ends",
    file: "lib/until-aborted.ts",
    find: '    signal?.removeEventListener("abort", abort);\n',
    replace: "",
    tests: ["test/messenger/channels/whatsapp/relay.test.ts"],
    only: "memory of sent messages",
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
    find: '    if (!(await askDirectory(openSessions(socket, address)))) return "no-devices";\n',
    replace: '    if (!address && !(await openSessions(socket, address))) return "no-devices";\n',
    tests: ofSending,
    only: "without an account",
  },
  {
    breaks: "463 is forgotten when the send to the other address fails before it leaves",
    file: sendingFile,
    find: "    if (rejection && error instanceof ChannelFailure && !error.mayHaveLeft) return rejection;\n",
    replace: "",
    tests: ofAddressing,
    only: "463 by one address counts",
  },
  {
    breaks: "475 is sent again at once when the platform does not say whether there is a cap",
    file: refusalFile,
    find: "const mayBeLimited = !isAnswered || ",
    replace: "const mayBeLimited = ",
    tests: ofRejections,
    only: "code 475",
  },
];
