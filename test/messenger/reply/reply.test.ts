import { type proto, proto as protocol } from "baileys";
import { describe, expect, test } from "vitest";
import type { Envelope } from "../../../infra/local/whatsapp/phone.ts";
import {
  database,
  phone,
  platform,
  stageEachTest,
  start,
  startOpen,
  untilOpen,
} from "../../fleet/running-task.ts";
import { isOut, listReplies, untilHandled, untilTexts, write } from "./reply-steps.ts";

stageEachTest();

const text = (words: string): proto.IMessage => ({ extendedTextMessage: { text: words } });
const edit = (message: proto.IMessage): proto.IMessage => ({
  protocolMessage: {
    type: protocol.Message.ProtocolMessage.Type.MESSAGE_EDIT,
    key: { id: "3AEDITED", fromMe: true },
    editedMessage: message,
  },
});
const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000);

const stops: readonly [string, proto.IMessage, Envelope?][] = [
  ["a plain text", { conversation: "Stop." }],
  ["a text with a preview or a quoted message", text("*STOP*")],
  ["a disappearing message", { ephemeralMessage: { message: text("berhenti!") } }],
  [
    "wrapped several times",
    { ephemeralMessage: { message: { viewOnceMessage: { message: text("stop") } } } },
  ],
  ["a pressed button", { buttonsResponseMessage: { selectedDisplayText: "STOP", selectedButtonId: "1" } }],
  ["a pressed button of a template", { templateButtonReplyMessage: { selectedDisplayText: "Stop" } }],
  ["a row of a list", { listResponseMessage: { title: "BERHENTI" } }],
  ["an answer of a flow", { interactiveResponseMessage: { body: { text: "stop" } } }],
  ["an edit", edit(text("stop"))],
  ["a wrapped edit", { editedMessage: { message: edit({ conversation: "stop" }) } }],
  ["from a LID with its number", { conversation: "stop" }, { from: "lid" }],
  ["years old", { conversation: "stop" }, { sentAt: ago(20_000) }],
  ["from a clock that is ahead", { conversation: "stop" }, { sentAt: ago(-48) }],
  ["without a time", { conversation: "stop" }, { attrs: { t: "" } }],
  ["with context", { conversation: "stop", messageContextInfo: { messageSecret: Buffer.alloc(32, 1) } }],
];
test("STOP opts out in every form that phones send, and is confirmed once", async () => {
  await startOpen();
  for (const [n, [form, message, envelope]] of stops.entries()) {
    const number = `62813000000${String(n).padStart(2, "0")}`;
    const person = platform.register(number);
    await write(message, envelope, person);
    expect([form, await isOut(number)]).toEqual([form, true]);
    const [confirmation = ""] = await untilTexts(1, number);
    expect(confirmation).toMatch(/MULAI[\s\S]*START/);
    await write("STOP", {}, person);
    const replies = await listReplies(number);
    expect([form, replies]).toMatchObject([form, [{ text: confirmation, class: 1 }]]);
  }
});

const ignored: readonly [string, proto.IMessage, Envelope?][] = [
  ["in a sentence", { conversation: "stop sending me X" }],
  [
    "as a caption",
    { imageMessage: { caption: "STOP", url: "https://example.invalid/i", mimetype: "image/png" } },
  ],
  [
    "in a quoted message",
    { extendedTextMessage: { text: "ok", contextInfo: { quotedMessage: text("STOP") } } },
  ],
  ["as a reaction", { reactionMessage: { key: { id: "3EB0", fromMe: false }, text: "STOP" } }],
  ["as the name of a contact", { contactMessage: { displayName: "STOP", vcard: "BEGIN:VCARD" } }],
  ["as the answer of a poll", { pollCreationMessage: { name: "STOP", options: [{ optionName: "STOP" }] } }],
  ["in a protocol message", { protocolMessage: { type: 0, key: { id: "STOP", fromMe: false } } }],
  ["for another device", { deviceSentMessage: { destinationJid: phone, message: text("STOP") } }],
  ["in a group", { conversation: "STOP" }, { chat: "120363000000000001@g.us" }],
  ["in a group, from a LID", { conversation: "STOP" }, { chat: "120363000000000001@g.us", from: "lid" }],
  ["in a broadcast list", { conversation: "STOP" }, { chat: "1700000000@broadcast" }],
  ["as a status", { conversation: "STOP" }, { chat: "status@broadcast" }],
  ["in a channel", { conversation: "STOP" }, { chat: "120363000000000001@newsletter" }],
  ["as a peer message", { conversation: "STOP" }, { attrs: { category: "peer" } }],
  ["without content", {}],
];
test("STOP does nothing in anything but a person's own message to this number", async () => {
  const task = await startOpen();
  for (const [where, message, envelope] of ignored) {
    await write(message, envelope);
    expect([where, await isOut(), await listReplies()]).toEqual([where, false, []]);
    expect([where, platform.faults, task.findLeadership()?.whatsApp?.state().kind]).toEqual([
      where,
      [],
      "open",
    ]);
  }
});

/** What comes before BERHENTI. */
const dealtWith: readonly [string, Envelope][] = [
  ["a message in a group", { chat: "120363000000000001@g.us" }],
  ["a message in a broadcast list", { chat: "1700000000@broadcast" }],
  ["a status", { chat: "status@broadcast" }],
  ["a message in a channel", { chat: "120363000000000001@newsletter" }],
  ["a message of an unknown kind of chat", { chat: "1700000000@unknown" }],
  ["a message that cannot be decrypted", { encryption: "unknown" }],
  ["a message to a bot", { encryption: "msmsg" }],
  ["another message", {}],
  ["another message from a LID", { from: "lid" }],
  ["a peer message", { attrs: { category: "peer" } }],
];
test("each message is acknowledged without an error, so that BERHENTI behind all of them arrives", async () => {
  await startOpen();
  platform.behave({ cleanAcks: true });
  for (const [kind, envelope] of dealtWith) {
    await platform.post(platform.phone(phone), { conversation: "hello" }, envelope);
    await platform
      .until(() => platform.unacknowledged === 0, 10_000)
      .catch((cause: unknown) => {
        throw new Error(`${kind} is not acknowledged without an error`, { cause });
      });
  }
  await write("BERHENTI");
  expect(await isOut()).toBe(true);
});

test("BERHENTI behind a message that was read and is delivered again arrives", async () => {
  await startOpen();
  platform.behave({ cleanAcks: true, missAcks: 1 });
  await platform.write(phone, "hello");
  await platform.until(() => platform.behaviour.missAcks === 0);
  platform.disconnect("drop");
  await write("BERHENTI");
  expect(await isOut()).toBe(true);
});

test("STOP of a number whose LID the platform does not say is read", async () => {
  await startOpen();
  platform.behave({ cleanAcks: true, failDirectory: true });
  await write("stop");
  expect(await isOut()).toBe(true);
});

test.each([
  ["a person who wrote before", () => write("hello")],
  ["a stranger", async () => {}],
])(
  "STOP of %s that cannot be decrypted because the database fails is delivered again at the next login",
  async (_, before) => {
    await startOpen();
    await before();
    await database.admin`alter table messaging.auth_key rename to missing`;
    await platform.write(phone, "stop");
    await platform.until(() => platform.sockets.loggedIn === 0);
    await database.admin`alter table messaging.missing rename to auth_key`;
    await untilHandled();
    expect(await isOut()).toBe(true);
  },
);

test("STOP of the account itself, and of its own devices, does nothing", async () => {
  await startOpen();
  const { account } = platform;
  await write("STOP", {}, account);
  await write("STOP", { from: "lid" }, account);
  await write("STOP", { attrs: { recipient: `${phone}@s.whatsapp.net` } }, account);
  const message = { deviceSentMessage: { destinationJid: `${phone}@s.whatsapp.net`, message: text("STOP") } };
  await write(message, { attrs: { recipient: `${phone}@s.whatsapp.net` } }, account);
  expect(await database.admin`select from notification.opt_out`).toHaveLength(0);
  expect(await listReplies()).toEqual([]);
});

test("STOP of a phone's linked device is that of its number", async () => {
  await startOpen();
  const companion = platform.linkCompanion(phone);
  await write("stop", {}, companion);
  expect(await isOut()).toBe(true);
  await untilTexts(1);
});

test("STOP in the account's history does nothing", async () => {
  await startOpen();
  const jid = `${phone}@s.whatsapp.net`;
  const message = { key: { remoteJid: jid, id: "3AOLD" }, message: text("STOP"), messageTimestamp: 1 };
  await platform.syncHistory({ syncType: 0, conversations: [{ id: jid, messages: [{ message }] }] });
  await untilHandled();
  expect([await isOut(), await listReplies()]).toEqual([false, []]);
});

describe("a LID without its number", () => {
  const countUnresolved = async () =>
    (await database.admin`select unresolved from messaging.control`)[0]?.unresolved;

  test("is resolved by what is known of it", async () => {
    await startOpen();
    await write("hello", { from: "lid" });
    await write("stop", { from: "hidden number" });
    expect([await isOut(), await countUnresolved()]).toEqual([true, 0]);
  });

  test("that is unknown is counted, and nothing else is done", async () => {
    await startOpen();
    await write("stop", { from: "hidden number" });
    await write("hello", { from: "hidden number" });
    expect([await isOut(), await listReplies(), await countUnresolved()]).toEqual([false, [], 1]);
    expect(await database.admin`select from notification.opt_out`).toHaveLength(0);
  });
});

test("MULAI opts in again; of changes back and forth, each direction is confirmed once a day", async () => {
  await startOpen();
  for (const word of ["start", "stop", "STOP", "Berhenti", "mulai", "MULAI", "start", "stop"])
    await write(word);
  expect(await isOut()).toBe(true);
  const texts = (await listReplies()).map(({ text }) => (text.includes("MULAI") ? "out" : "in"));
  expect(texts).toEqual(["out", "in"]);
});

test("MULAI that arrives after more than a day does nothing", async () => {
  await startOpen();
  await write("stop");
  await write("mulai", { sentAt: ago(25) });
  expect(await isOut()).toBe(true);
  await write("mulai", { sentAt: ago(23) });
  expect(await isOut()).toBe(false);
});

test("words that arrive while the messenger is away are followed in their order at the next login", async () => {
  const first = await startOpen();
  await first.stop();
  for (const word of ["stop", "mulai", "stop"]) await platform.write(phone, word);
  const second = await start();
  await untilOpen(second);
  await untilHandled();
  expect([await isOut(), (await listReplies()).length]).toEqual([true, 2]);
  expect(platform.faults).toEqual([]);
});

test("a message that the platform delivers twice is confirmed once", async () => {
  await startOpen();
  await platform.post(platform.phone(phone), text("stop"));
  platform.repeatUnacknowledged();
  platform.repeatUnacknowledged();
  await untilHandled();
  expect([await isOut(), (await listReplies()).length]).toEqual([true, 1]);
});
