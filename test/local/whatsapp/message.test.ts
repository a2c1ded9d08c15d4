import { createHash, randomBytes } from "node:crypto";
import { Agent, get } from "node:https";
import { buffer } from "node:stream/consumers";
import {
  type AnyMessageContent,
  generateMessageIDV2,
  type MiscMessageGenerationOptions,
  type WASocket,
} from "baileys";
import { describe, expect, test } from "vitest";
import { decryptMedia } from "../../../infra/local/whatsapp/media/media-file.ts";
import { citizen, runPaired } from "./whatsapp-client.ts";

const jid = `${citizen}@s.whatsapp.net`;
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** The text of the next message from another account. */
const awaitText = (socket: WASocket) =>
  new Promise((resolve) =>
    socket.ev.on("messages.upsert", ({ messages }) => {
      const written = messages.find(({ key }) => !key.fromMe);
      if (written) resolve(written.message?.conversation);
    }),
  );

/** A client that is logged in, and the phone that it writes to. */
const start = async () => {
  const { platform, state, socket } = await runPaired();
  const phone = platform.phone(citizen);
  const send = async (content: AnyMessageContent, options: MiscMessageGenerationOptions = {}) => {
    const messageId = options.messageId ?? generateMessageIDV2();
    const ack = socket.waitForMessage(messageId, 5_000);
    await socket.sendMessage(jid, content, { ...options, messageId });
    return { id: messageId, ack: await ack };
  };
  return { platform, state, socket, phone, send };
};

describe("a phone", () => {
  test("reads a text under its id, and the message is acknowledged", async () => {
    const { platform, phone, send } = await start();
    const { id, ack } = await send({ text: "Halo *warga*" });
    expect(ack).toMatchObject({ tag: "ack", attrs: { class: "message", id } });
    expect(phone.inbox).toMatchObject([
      { id, type: "extendedTextMessage", text: "Halo *warga*", arrivals: 1, order: 1, encryption: "pkmsg" },
    ]);
    expect(phone.failures).toEqual([]);
    expect(platform.arrivalsOf(id)).toBe(1);
    expect(platform.faults).toEqual([]);
  });

  test("gets messages that open a session until it answers, and then ones that continue it", async () => {
    const { platform, socket, phone, send } = await start();
    await send({ text: "1" });
    await send({ text: "2" });
    const answered = awaitText(socket);
    await platform.write(citizen, "Baik");
    expect(await answered).toBe("Baik");
    await send({ text: "3" });
    await send({ text: "4" });
    expect(phone.inbox.map(({ encryption }) => encryption)).toEqual(["pkmsg", "pkmsg", "msg", "msg"]);
    expect(phone.failures).toEqual([]);
  });

  test("may write first, in a session with the client's uploaded keys", async () => {
    const { platform, socket, phone, send } = await start();
    const written = awaitText(socket);
    await platform.write(citizen, "Permisi");
    expect(await written).toBe("Permisi");
    await send({ text: "Ya" });
    expect(phone.inbox).toMatchObject([{ text: "Ya" }]);
  });

  test("gets a quote with what it quotes", async () => {
    const { phone, send } = await start();
    const { id } = await send({ text: "question" });
    const key = { id, remoteJid: jid, fromMe: true };
    await send({ text: "answer" }, { quoted: { key, message: { conversation: "question" } } });
    expect(phone.inbox.at(-1)?.message.extendedTextMessage?.contextInfo).toMatchObject({
      stanzaId: id,
      quotedMessage: { conversation: "question" },
    });
  });

  test("gets a view-once image with its caption", async () => {
    const { phone, send } = await start();
    await send({ image: png, caption: "peta", viewOnce: true });
    const [received] = phone.inbox;
    expect(received).toMatchObject({ type: "imageMessage", text: "peta" });
    expect(received?.message.viewOnceMessage?.message?.imageMessage?.viewOnce).toBe(true);
    expect(received?.media?.bytes).toEqual(png);
  });

  test("gets a document of many frames unchanged", async () => {
    const { phone, send } = await start();
    const file = randomBytes(3 * 1024 * 1024 + 7);
    await send({ document: file, mimetype: "application/pdf", fileName: "surat.pdf", caption: "surat" });
    const [received] = phone.inbox;
    expect(received).toMatchObject({ type: "documentMessage", text: "surat" });
    expect(received?.media).toMatchObject({
      fileName: "surat.pdf",
      mimetype: "application/pdf",
      lengthBytes: file.length,
    });
    expect(received?.media?.bytes.equals(file)).toBe(true);
    expect(phone.failures).toEqual([]);
  });

  test("does not exist for a number without an account", async () => {
    const { platform, socket } = await start();
    // the client leaves out of its answer who has no account
    expect(await socket.onWhatsApp(citizen, "6289999999999")).toEqual([{ jid, exists: true }]);
    platform.register("6289999999999");
    expect(await socket.onWhatsApp("6289999999999")).toMatchObject([{ exists: true }]);
    expect(() => platform.phone("6280000000000")).toThrow("no account");
  });

  test("that does not exist gets nothing: the message is rejected", async () => {
    const { socket, platform } = await start();
    const messageId = generateMessageIDV2();
    const ack = socket.waitForMessage(messageId, 5_000);
    await socket.sendMessage("6289999999999@s.whatsapp.net", { text: "anyone?" }, { messageId });
    expect(await ack).toMatchObject({ attrs: { error: "404" } });
    expect(platform.faults).toEqual([]);
  });

  test("is found by its hidden identity, too", async () => {
    const { socket, platform, phone } = await start();
    await socket.sendMessage(`${phone.lid}@lid`, { text: "to the LID" });
    await platform.until(() => phone.inbox.length === 1);
    expect(phone.inbox).toMatchObject([{ text: "to the LID" }]);
  });

  test("rejects media that was changed in transit, at any byte", async () => {
    const { platform, phone, send } = await start();
    await send({ document: randomBytes(100), mimetype: "application/pdf", fileName: "a.pdf" });
    const { media, message } = phone.inbox[0] ?? {};
    if (!media) throw new Error("no media");
    const agent = new Agent({ ca: platform.mediaCa });
    const file = await new Promise<Buffer>((resolve, reject) =>
      get(message?.documentMessage?.url ?? "", { agent }, (response) => resolve(buffer(response))).on(
        "error",
        reject,
      ),
    );
    expect(decryptMedia(media, file).equals(media.bytes)).toBe(true);
    const changed = Buffer.from(file);
    changed[0] = (changed[0] ?? 0) ^ 1;
    expect(() => decryptMedia(media, changed)).toThrow("encrypted file's SHA-256");
    const encryptedSha256 = createHash("sha256").update(changed).digest();
    expect(() => decryptMedia({ ...media, encryptedSha256 }, changed)).toThrow("MAC");
    expect(() => decryptMedia({ ...media, mediaKey: randomBytes(32) }, file)).toThrow("MAC");
    expect(() => decryptMedia({ ...media, sha256: randomBytes(32) }, file)).toThrow("the file's SHA-256");
  });

  test("gets a hundred texts in the order of sending", async () => {
    const { platform, phone, socket } = await start();
    const texts = Array.from({ length: 100 }, (_, index) => `text ${index}`);
    for (const text of texts) await socket.sendMessage(jid, { text });
    await platform.until(() => phone.inbox.length === texts.length);
    expect(phone.inbox.map(({ text }) => text)).toEqual(texts);
    expect(phone.failures).toEqual([]);
  });

  test("of the account itself gets a copy of what the client sends", async () => {
    const { platform, send } = await start();
    const { id } = await send({ text: "copy" });
    const copy = platform.account.find(id)?.message.deviceSentMessage;
    expect(copy).toMatchObject({ destinationJid: jid, message: { extendedTextMessage: { text: "copy" } } });
  });

  test("records a message that it cannot decrypt, requests it again, and then reads it", async () => {
    const { platform, state, phone, send } = await start();
    const address = `${phone.lid}_1.0`;
    await send({ text: "first" });
    const before = structuredClone(await state.keys.get("session", [address]));
    await send({ text: "second" });
    // as after a crash that lost the session's last step: the next message has a key that was used before
    await state.keys.set({ session: before });
    const { id, ack } = await send({ text: "third" });
    expect(ack).toMatchObject({ tag: "ack" });
    await platform.until(() => phone.find(id) !== undefined);
    expect(phone.failures).toMatchObject([{ id, reason: expect.stringContaining("Key used already") }]);
    expect(platform.arrivalsOf(id)).toBe(2);
    expect(phone.find(id)).toMatchObject({ text: "third", arrivals: 1 });
    expect(platform.sockets).toMatchObject({ loggedIn: 1, everOpened: 2 });
  });

  test("that does not request again keeps the failure, and the connection stays open", async () => {
    const { platform, state, phone, send } = await start();
    platform.behave({ askAgainOnFailure: false });
    const address = `${phone.lid}_1.0`;
    await send({ text: "first" });
    const before = structuredClone(await state.keys.get("session", [address]));
    await send({ text: "second" });
    await state.keys.set({ session: before });
    const { id } = await send({ text: "third" });
    expect(phone.failures).toMatchObject([{ id }]);
    await send({ text: "fourth" });
    expect(phone.inbox.map(({ text }) => text)).toEqual(["first", "second", "fourth"]);
    expect(platform.sockets).toMatchObject({ loggedIn: 1, everOpened: 2 });
  });
});
