import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { proto } from "baileys";
import { beforeEach, describe, expect, test } from "vitest";
import { decompose } from "#lib/channels/whatsapp/message/composition.ts";
import type { Receipt } from "#lib/channels/whatsapp/receipt.ts";
import type { WhatsApp } from "#lib/channels/whatsapp/whatsapp.ts";
import {
  citizen,
  createScene,
  failureOf,
  linkWhatsApp,
  never,
  openPaired,
  ownNumber,
  type Scene,
  sendNew,
  text,
  untilState,
} from "./linked-whatsapp.ts";

let scene: Scene;

beforeEach(async () => {
  scene = await createScene();
});

/** Collects garbage; weak references are cleared only between two turns of the event loop. */
const collectGarbage = async () => {
  setFlagsFromString("--expose-gc");
  await setImmediate();
  runInNewContext("gc")();
};

/** Sends a message. @returns a weak reference to the memory of its payload */
const sendAndForget = async (platform: WhatsApp, words: string) => {
  const { payload } = await sendNew(platform, text(words));
  return new WeakRef(payload);
};

test("the memory of sent messages is released, although the connection stays open", async () => {
  const platform = await openPaired(scene);
  const payloads: WeakRef<Uint8Array>[] = [];
  for (const words of ["satu", "dua", "tiga"]) payloads.push(await sendAndForget(platform, words));
  const heldPayloads = async () => {
    await collectGarbage();
    return payloads.filter((payload) => payload.deref()).length;
  };
  // the last one may still be on the stack of the library
  await expect.poll(heldPayloads).toBeLessThan(2);
});

test("messages that are sent at once can be read by every recipient and by the account's own phone, also later", async () => {
  const numbers = [citizen, ...[1, 2, 3].map((n) => `628120000000${n}`)];
  for (const number of numbers) if (number !== citizen) scene.fake.register(number);
  const sendToAll = (platform: WhatsApp) =>
    Promise.all(
      ["first", "second"].flatMap((words) =>
        numbers.map((phone) => sendNew(platform, text(words, { phone }))),
      ),
    );
  const platform = await openPaired(scene);
  await sendToAll(platform);
  await platform.stop();
  // with the sessions as they were stored
  await sendToAll(await openPaired(scene));
  const phones = [...numbers.map((number) => scene.fake.phone(number)), scene.fake.account];
  expect(phones.flatMap(({ failures }) => failures)).toEqual([]);
  expect(phones.map(({ inbox }) => inbox.length)).toEqual([4, 4, 4, 4, 16]);
});

describe("a message", () => {
  test("is not sent to a number without an account", async () => {
    const platform = await openPaired(scene);
    expect(await platform.findJid(citizen)).toBe(`${citizen}@s.whatsapp.net`);
    expect(await platform.findJid("6281299999999")).toBeUndefined();
    const stranger = text("hi", { phone: "6281299999999" });
    const payload = await platform.compose(stranger, never);
    expect(await failureOf(platform.send(payload, never))).toMatchObject({
      reason: "not-registered",
      mayHaveLeft: false,
    });
    expect(scene.fake.arrivalsOf(stranger.id)).toBe(0);
  });

  test("whose recipient has no keys fails, and the devices are queried again for the next try", async () => {
    const platform = await openPaired(scene);
    await sendNew(platform, text("to another", { phone: scene.fake.register("6281200000043").number }));
    scene.fake.behave({ keyless: { of: "phones", answer: "error" } });
    const composition = text("again");
    const payload = await platform.compose(composition, never);
    const { queries } = scene.fake.phone(citizen);
    const failed = { reason: "failed", mayHaveLeft: false };
    expect(await failureOf(platform.send(payload, never))).toMatchObject(failed);
    const before = queries.devices;
    expect(await failureOf(platform.send(payload, never))).toMatchObject(failed);
    expect(queries.devices).toBe(before + 1);
    scene.fake.behave({});
    expect(await platform.send(payload, never)).toEqual({ outcome: "acked" });
  });

  test("that the directory does not answer for leaves the devices known, which are still used after its outage", async () => {
    const platform = await openPaired(scene);
    await sendNew(platform, text("first"));
    const { queries } = scene.fake.phone(citizen);
    const before = queries.devices;
    // the account's own devices have changed, and are queried again
    scene.fake.linkCompanion(ownNumber);
    await scene.fake.until(() => scene.fake.unacknowledged === 0);
    scene.fake.behave({ failDirectory: true });
    const failed = { reason: "directory-failed", mayHaveLeft: false };
    expect(await failureOf(sendNew(platform, text("second")))).toMatchObject(failed);
    scene.fake.behave({});
    expect((await sendNew(platform, text("third"))).answer).toEqual({ outcome: "acked" });
    expect(queries.devices).toBe(before);
  });

  test("that is aborted before it is sent leaves no companion out of the next ones", async () => {
    const platform = await openPaired(scene);
    const companion = scene.fake.linkCompanion(citizen);
    scene.fake.behave({ keyless: { of: "companions", answer: "absent" } });
    const payload = await platform.compose(text("aborted"), never);
    const stop = new AbortController();
    const sending = failureOf(platform.send(payload, stop.signal));
    await scene.fake.until(() => scene.fake.phone(citizen).queries.keys > 0);
    stop.abort();
    expect(await sending).toMatchObject({ reason: "aborted", mayHaveLeft: false });
    await scene.fake.until(() => scene.fake.tokensGivenTo(citizen) > 0);
    await expect.poll(() => platform.devices?.know(`${citizen}@s.whatsapp.net`)).toBe(false);
    scene.fake.behave({});
    const { id } = await sendNew(platform, text("next"));
    await expect.poll(() => companion.find(id)).toBeDefined();
  });

  test("is reported as refused with the platform's code", async () => {
    const platform = await openPaired(scene);
    scene.fake.behave({ nack: { code: 463, messages: 1 } });
    expect((await sendNew(platform, text("new"))).answer).toEqual({ outcome: "rejected", code: "463" });
    expect((await sendNew(platform, text("again"))).answer).toEqual({ outcome: "acked" });
  });

  test("is reported as delivered and read", async () => {
    const platform = await openPaired(scene);
    scene.fake.behave({ receipts: [] });
    const { id } = await sendNew(platform, text("read me"));
    const receipts: Receipt[] = [];
    platform.on("receipt", (receipt) => receipts.push(receipt));
    scene.fake.sendReceipts(id, ["delivered", "read"]);
    await expect
      .poll(() => receipts)
      .toMatchObject([
        { id, kind: "delivered" },
        { id, kind: "read" },
      ]);
  });

  test("counts as acked when its receipt overtakes the ack", async () => {
    const platform = await openPaired(scene);
    scene.fake.behave({ ackDelayMs: 60_000, receiptsBeforeAck: true });
    expect((await sendNew(platform, text("quick"))).answer).toEqual({ outcome: "acked" });
  });

  test("may have left when its ack is missing, and is identical when sent again", async () => {
    const platform = await openPaired(scene);
    const composition = text("once");
    const payload = await platform.compose(composition, never);
    scene.fake.behave({ dropBeforeAck: 1, receipts: [] });
    expect(await failureOf(platform.send(payload, never))).toMatchObject({
      reason: "connection-lost",
      mayHaveLeft: true,
    });
    await untilState(platform, "open");
    expect(await platform.send(payload, never)).toEqual({ outcome: "acked" });
    expect(scene.fake.arrivalsOf(composition.id)).toBe(2);
    const { inbox, failures } = scene.fake.phone(citizen);
    expect(inbox).toMatchObject([{ id: composition.id, text: "once", arrivals: 2, identical: true }]);
    expect(failures).toEqual([]);
  });

  test("waits for its answer until the timeout or an abort by its caller", async () => {
    const platform = await openPaired({ ...scene, settings: { answerTimeoutMs: 2_000 } });
    // the session and the devices are known then, so that the time is spent on the answer
    await sendNew(platform, text("first"));
    scene.fake.behave({ ack: false, receipts: [] });
    const payload = await platform.compose(text("slow"), never);
    expect(await failureOf(platform.send(payload, never))).toMatchObject({
      reason: "no-answer",
      mayHaveLeft: true,
    });
    const { id } = decompose(payload);
    const stop = new AbortController();
    const sending = failureOf(platform.send(payload, stop.signal));
    await scene.fake.until(() => scene.fake.arrivalsOf(id) === 2);
    stop.abort();
    const aborted = await sending;
    expect(aborted).toMatchObject({ reason: "aborted", mayHaveLeft: true });
    const before = await failureOf(platform.send(payload, AbortSignal.abort()));
    expect(before).toMatchObject({ reason: "aborted", mayHaveLeft: false });
  });

  test("is rejected without a connection", async () => {
    const platform = await openPaired(scene);
    const payload = await platform.compose(text("late"), never);
    scene.fake.leave();
    await untilState(platform, "closed");
    expect(await failureOf(platform.send(payload, never))).toMatchObject({
      reason: "not-connected",
      mayHaveLeft: false,
    });
  });

  test("that a phone could not decrypt is sent again after a restart, only to its recipient", async () => {
    const payloads = new Map<string, Uint8Array>();
    const first = await openPaired({ ...scene, payloads });
    const composition = text("keep me");
    const { id, payload } = await sendNew(first, composition);
    await first.stop();
    const second = await linkWhatsApp({ ...scene, payloads });
    second.start();
    await untilState(second, "open");

    await scene.fake.askAgain(id); // unknown to the task: nothing is sent
    await sendNew(second, text("between"));
    expect(scene.fake.arrivalsOf(id)).toBe(1);

    const { key, ...message } = proto.WebMessageInfo.decode(payload);
    const toOther = { ...message, key: { ...key, remoteJid: "6281200000099@s.whatsapp.net" } };
    payloads.set(id, proto.WebMessageInfo.encode(toOther).finish());
    await scene.fake.askAgain(id); // another recipient's message
    await sendNew(second, text("between"));
    expect(scene.fake.arrivalsOf(id)).toBe(1);

    payloads.set(id, payload);
    await scene.fake.askAgain(id);
    await scene.fake.until(() => scene.fake.arrivalsOf(id) === 2);
    await expect
      .poll(() => scene.fake.phone(citizen).find(id))
      .toMatchObject({ arrivals: 2, identical: true });
    expect(scene.fake.phone(citizen).failures).toEqual([]);
  });

  test("is rejected before it leaves once another task is the leader", async () => {
    const lead = (epoch: number) => scene.sql`
      insert into messaging.leadership (account, epoch, holder) values (1, ${epoch}, 'test')
      on conflict (account) do update set epoch = excluded.epoch`;
    await lead(1);
    const platform = await openPaired({ ...scene, epoch: 1 });
    await sendNew(platform, text("mine"));
    const late = text("late");
    const payload = await platform.compose(late, never);
    await lead(2);
    expect(await failureOf(platform.send(payload, never))).toMatchObject({ mayHaveLeft: false });
    expect(scene.fake.arrivalsOf(late.id)).toBe(0);
  });

  test("may have left when the messenger stops before its answer", async () => {
    const platform = await openPaired(scene);
    scene.fake.behave({ ack: false, receipts: [] });
    const composition = text("going");
    const sending = failureOf(platform.send(await platform.compose(composition, never), never));
    await scene.fake.until(() => scene.fake.arrivalsOf(composition.id) === 1);
    await platform.stop();
    expect(await sending).toMatchObject({ reason: "connection-lost", mayHaveLeft: true });
  });
});
