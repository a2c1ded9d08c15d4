import { type BinaryNode, generateMessageIDV2, proto, type WASocket } from "baileys";
import { describe, expect, test } from "vitest";
import {
  awaitClose,
  awaitUpdate,
  citizen,
  connect,
  createState,
  logIn,
  runPaired,
} from "./whatsapp-client.ts";

const jid = `${citizen}@s.whatsapp.net`;
const { Status } = proto.WebMessageInfo;
/** The client rejects with the close code of its web socket, not with an error. */
const cutOff = 1006;

/** Sends a text. @returns the ack; undefined after a timeout. */
const send = async (socket: WASocket, text: string, id = generateMessageIDV2(), withinMs = 5_000) => {
  const ack: Promise<BinaryNode | undefined> = socket.waitForMessage(id, withinMs);
  ack.catch(() => {});
  await socket.sendMessage(jid, { text }, { messageId: id });
  return { id, ack: await ack };
};

/** The next message state that the client reports. */
const awaitState = (socket: WASocket, id: string) =>
  new Promise((resolve) =>
    socket.ev.on("messages.update", (updates) => {
      for (const { key, update } of updates) if (key.id === id) resolve(update.status);
    }),
  );

/** The kinds of receipts, until there are this many: the client itself reports only the last. */
const awaitReceipts = (socket: WASocket, id: string, count: number) => {
  const kinds: string[] = [];
  return new Promise<string[]>((resolve) =>
    socket.ws.on("CB:receipt", ({ attrs }: BinaryNode) => {
      if (attrs.id === id && kinds.push(attrs.type ?? "delivered") === count) resolve(kinds);
    }),
  );
};

/** How many messages arrived while the client was disconnected. */
const awaitMissed = (socket: WASocket) =>
  new Promise((resolve) =>
    socket.ws.on("CB:ib,,offline", ({ content }: BinaryNode) =>
      resolve(Array.isArray(content) && Number(content[0]?.attrs.count)),
    ),
  );

describe("a nack", () => {
  test("with 463 fails the message, which is not delivered", async () => {
    const { platform, socket } = await runPaired();
    platform.behave({ nack: { code: 463 } });
    const id = generateMessageIDV2();
    const state = awaitState(socket, id);
    const { ack } = await send(socket, "refused", id);
    expect(ack).toMatchObject({ attrs: { id, error: "463" } });
    expect(await state).toBe(Status.ERROR);
    expect(platform.phone(citizen).inbox).toEqual([]);
    expect(platform.arrivalsOf(id)).toBe(1);
  });

  test("may be limited to a number and a few messages", async () => {
    const { platform, socket } = await runPaired();
    platform.behave({ nack: { code: 479, messages: 1, to: citizen } });
    expect((await send(socket, "1")).ack).toMatchObject({ attrs: { error: "479" } });
    expect((await send(socket, "2")).ack?.attrs).not.toHaveProperty("error");
    platform.behave({ nack: { code: 463, to: "6280000000000" } });
    expect((await send(socket, "3")).ack?.attrs).not.toHaveProperty("error");
    expect(platform.phone(citizen).inbox.map(({ text }) => text)).toEqual(["2", "3"]);
  });
});

describe("an ack", () => {
  test("that is lost with its socket leaves a delivered message, which is there once after another send", async () => {
    const { platform, state, socket } = await runPaired();
    const phone = platform.phone(citizen);
    platform.behave({ dropBeforeAck: 1, receipts: [] });
    const id = generateMessageIDV2();
    const closed = awaitClose(socket);
    await expect(send(socket, "once", id)).rejects.toBe(cutOff);
    expect(await closed).toBe(428);
    await platform.until(() => phone.find(id) !== undefined);
    const again = await logIn(platform, state);
    expect((await send(again, "once", id)).ack).toMatchObject({ tag: "ack", attrs: { id } });
    expect(phone.inbox).toMatchObject([{ id, text: "once", arrivals: 2 }]);
    expect(platform.arrivalsOf(id)).toBe(2);
    expect(platform.behaviour.dropBeforeAck).toBe(0);
  });

  test("that is lost before delivery leaves nothing", async () => {
    const { platform, state, socket } = await runPaired();
    platform.behave({ dropUndelivered: 1 });
    const id = generateMessageIDV2();
    await expect(send(socket, "lost", id)).rejects.toBe(cutOff);
    expect(platform.phone(citizen).inbox).toEqual([]);
    await send(await logIn(platform, state), "lost", id);
    expect(platform.phone(citizen).inbox).toMatchObject([{ id, arrivals: 1 }]);
  });

  test("may be slow or missing", async () => {
    const { platform, socket } = await runPaired();
    platform.behave({ ackDelayMs: 300, receipts: [] });
    const before = performance.now();
    expect((await send(socket, "slow")).ack).toMatchObject({ tag: "ack" });
    expect(performance.now() - before).toBeGreaterThanOrEqual(290);
    platform.behave({ ack: false, receipts: [] });
    const { id, ack } = await send(socket, "never", generateMessageIDV2(), 200);
    expect(ack).toBeUndefined();
    await platform.until(() => platform.phone(citizen).find(id) !== undefined);
  });
});

describe("receipts", () => {
  test("report delivery and reading, in this order", async () => {
    const { platform, socket } = await runPaired();
    platform.behave({ receipts: ["delivered", "read"] });
    const id = generateMessageIDV2();
    const reported = Promise.all([awaitReceipts(socket, id, 2), awaitState(socket, id)]);
    await send(socket, "seen", id);
    expect(await reported).toEqual([["delivered", "read"], Status.READ]);
  });

  test("may arrive late and out of order", async () => {
    const { platform, socket } = await runPaired();
    platform.behave({ receipts: ["read", "delivered"], receiptDelayMs: 50 });
    const id = generateMessageIDV2();
    const receipts = awaitReceipts(socket, id, 2);
    const before = performance.now();
    await send(socket, "seen", id);
    expect(await receipts).toEqual(["read", "delivered"]);
    expect(performance.now() - before).toBeGreaterThan(95);
  });

  test("may be delayed until long after the ack", async () => {
    const { platform, socket } = await runPaired();
    platform.behave({ receipts: [] });
    const { id } = await send(socket, "held");
    const state = awaitState(socket, id);
    platform.sendReceipts(id, ["read"]);
    expect(await state).toBe(Status.READ);
  });

  test("are delivered later to a client that was disconnected", async () => {
    const { platform, state, socket } = await runPaired();
    platform.behave({ dropBeforeAck: 1 });
    const id = generateMessageIDV2();
    await expect(send(socket, "away", id)).rejects.toBe(cutOff);
    const back = connect(platform, state);
    const [missed, reported] = await Promise.all([awaitMissed(back), awaitState(back, id)]);
    expect([missed, reported]).toEqual([1, Status.DELIVERY_ACK]);
    await platform.until(() => platform.unacknowledged === 0);
    // acknowledged messages are not delivered again
    const closed = awaitClose(back);
    platform.disconnect(515);
    await closed;
    expect(await awaitMissed(connect(platform, state))).toBe(0);
  });

  test("may overtake the ack", async () => {
    const { platform, socket } = await runPaired();
    platform.behave({ receiptsBeforeAck: true });
    const tags: string[] = [];
    const id = generateMessageIDV2();
    const both = new Promise<void>((resolve) =>
      socket.ws.on(`TAG:${id}`, ({ tag }) => {
        if (tags.push(tag) === 2) resolve();
      }),
    );
    await socket.sendMessage(jid, { text: "overtaken" }, { messageId: id });
    await both;
    expect(tags).toEqual(["receipt", "ack"]);
  });
});

describe("a retry receipt", () => {
  test("for a message makes the client send it again under its id", async () => {
    const asked: string[] = [];
    const { platform, socket } = await runPaired({
      enableRecentMessageCache: false,
      getMessage: async ({ id }) => {
        asked.push(id ?? "");
        return { conversation: "from the outbox" };
      },
    });
    const { id } = await send(socket, "again");
    await platform.askAgain(id);
    await platform.until(() => platform.arrivalsOf(id) === 2);
    const phone = platform.phone(citizen);
    await platform.until(() => phone.find(id)?.arrivals === 2);
    expect(asked).toEqual([id]);
    // the outbox gave another text on purpose: the phone saw that the copies differ
    expect(phone.find(id)).toMatchObject({ text: "again", identical: false });
    await expect(platform.askAgain("3EB0")).rejects.toThrow("no message");
  });

  test("is sent for messages that a phone is told not to decrypt", async () => {
    const { platform, socket } = await runPaired();
    platform.behave({ askAgain: 1, receipts: [] });
    const { id } = await send(socket, "unreadable");
    const phone = platform.phone(citizen);
    await platform.until(() => phone.find(id) !== undefined);
    expect(phone.find(id)).toMatchObject({ text: "unreadable", arrivals: 1 });
    expect(platform.arrivalsOf(id)).toBe(2);
    expect(phone.failures).toEqual([]);
  });
});

describe("a connection", () => {
  test.for([411, 428, 500, 503, 515])("may be closed with %i, and the client logs in again", async (code) => {
    const { platform, state, socket } = await runPaired();
    const closed = awaitClose(socket);
    platform.disconnect(code);
    expect(await closed).toBe(code);
    expect(platform.sockets).toMatchObject({ open: 0, loggedIn: 0 });
    await logIn(platform, state);
    expect(platform.sockets).toMatchObject({ open: 1, loggedIn: 1, mostOpen: 1, mostLoggedIn: 1 });
  });

  test("that is logged out with 401 must be paired again", async () => {
    const { platform, state, socket } = await runPaired();
    const closed = awaitClose(socket);
    platform.disconnect(401);
    expect(await closed).toBe(401);
    expect(await awaitClose(connect(platform, state))).toBe(401);
    const fresh = connect(platform, createState());
    const { qr = "" } = await awaitUpdate(fresh, (update) => update.qr !== undefined);
    expect(await platform.scan(qr)).toContain(":2@");
  });

  test("is replaced with 440 by a second one of the same client, and both are counted", async () => {
    const { platform, state, socket } = await runPaired();
    expect(platform.sockets).toMatchObject({ mostOpen: 1, mostLoggedIn: 1 });
    const closed = awaitClose(socket);
    await logIn(platform, state);
    expect(await closed).toBe(440);
    expect(platform.sockets).toMatchObject({ open: 1, loggedIn: 1, mostOpen: 2, mostLoggedIn: 2 });
  });

  test("may stay open next to a second one, if the platform is configured so", async () => {
    const { platform, state } = await runPaired();
    platform.behave({ replaceOlder: false });
    await logIn(platform, state);
    expect(platform.sockets).toMatchObject({ open: 2, loggedIn: 2 });
  });

  test.for([401, 402, 403, 405, 406, 409, 500, 503])("may be rejected at login with %i", async (code) => {
    const { platform, state, socket } = await runPaired();
    platform.behave({ loginFailure: { code, expireSeconds: 60 } });
    platform.disconnect("drop");
    expect(await awaitClose(socket)).toBe(428);
    expect(await awaitClose(connect(platform, state))).toBe(code);
    platform.behave({});
    await logIn(platform, state);
  });

  test("is closed when the platform goes down, and accepted when it is back", async () => {
    const { platform, state, socket } = await runPaired();
    const closed = awaitClose(socket);
    platform.leave();
    expect(await closed).toBe(428);
    expect(await awaitClose(connect(platform, state))).toBeGreaterThan(0);
    expect(platform.sockets).toMatchObject({ open: 0, refused: 1 });
    platform.comeBack();
    await send(await logIn(platform, state), "back");
    expect(platform.phone(citizen).inbox).toMatchObject([{ text: "back" }]);
  });

  test("is possible again after a configured time", async () => {
    const { platform, state } = await runPaired();
    platform.leave(700);
    expect(await awaitClose(connect(platform, state))).toBeGreaterThan(0);
    await platform.until(() => !platform.away);
    await logIn(platform, state);
  });
});

test("an upload that the media server rejects fails the message", async () => {
  const { platform, socket } = await runPaired();
  platform.behave({ mediaHosts: [500] });
  const document = { document: Buffer.from("%PDF"), mimetype: "application/pdf", fileName: "a.pdf" };
  await expect(socket.sendMessage(jid, document)).rejects.toThrow("upload failed");
});
