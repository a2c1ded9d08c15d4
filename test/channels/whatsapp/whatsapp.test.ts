import { randomBytes } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { untilBlocked } from "../../fleet/blocked-connections.ts";
import {
  citizen,
  createScene,
  failureOf,
  linkWhatsApp,
  nextOf,
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

const inboxTexts = () => scene.fake.phone(citizen).inbox.map((received) => received.text);

describe("pairing", () => {
  test("links by QR code and opens as the phone's number", async () => {
    const platform = await openPaired(scene);
    expect(platform.state()).toMatchObject({ kind: "open", as: ownNumber });
    expect(scene.fake.faults).toEqual([]);
  });

  test("links by a code that is entered on the phone", async () => {
    const platform = await linkWhatsApp(scene);
    expect((await failureOf(platform.requestPairingCode(ownNumber))).reason).toBe("not-connected");
    platform.start();
    await untilState(platform, "pairing");
    const code = await platform.requestPairingCode(ownNumber);
    expect(platform.state()).toMatchObject({ kind: "pairing", code });
    const entered = () => scene.fake.enterCode(code).then(Boolean, () => false);
    await expect.poll(entered).toBe(true);
    expect(await untilState(platform, "open")).toMatchObject({ as: ownNumber });
  });

  test("is not needed again by the next process over the same database", async () => {
    const first = await openPaired(scene);
    await sendNew(first, text("one"));
    await first.stop();
    expect(first.state().kind).toBe("closed");
    const second = await linkWhatsApp(scene);
    second.start();
    await untilState(second, "open");
    expect((await sendNew(second, text("two"))).answer).toEqual({ outcome: "acked" });
    expect(inboxTexts()).toEqual(["one", "two"]);
    expect(scene.fake.phone(citizen).failures).toEqual([]);
  });

  test("that is lost before a phone has scanned the code says that none is linked", async () => {
    const platform = await linkWhatsApp(scene);
    platform.start();
    await untilState(platform, "pairing");
    scene.fake.leave();
    expect(await untilState(platform, "closed")).toMatchObject({ unlinked: true });
    scene.fake.comeBack();
    await scene.fake.scan((await untilState(platform, "pairing")).qr);
    await untilState(platform, "open");
    scene.fake.leave();
    expect(await untilState(platform, "closed")).not.toHaveProperty("unlinked");
  });

  test("is rejected when another authority signed the server's certificate", async () => {
    const rootKey = randomBytes(32);
    const platform = await linkWhatsApp({ ...scene, settings: { rootKey } });
    const codes: (number | undefined)[] = [];
    platform.on("state", (state) => {
      expect(["connecting", "closed"]).toContain(state.kind);
      if (state.kind === "closed") codes.push(state.code);
    });
    platform.start();
    await expect.poll(() => codes.length).toBeGreaterThan(1);
    expect(new Set(codes)).toEqual(new Set([400]));
    expect(scene.fake.sockets.everOpened).toBeGreaterThan(1);
    await expect(scene.fake.scan("2@x,y,z")).rejects.toThrow("no connected client");
  });
});

describe("a connection", () => {
  test("reconnects at once after a requested restart", async () => {
    const settings = { reconnection: { minMs: 30_000 } };
    const platform = await openPaired({ ...scene, settings });
    const closed = nextOf(platform, "state");
    scene.fake.disconnect(515);
    expect(await closed).toMatchObject({ kind: "closed", code: 515 });
    await untilState(platform, "open");
    expect(scene.fake.sockets.mostOpen).toBeLessThanOrEqual(2);
  });

  test("stays closed after it was replaced, until it is started again", async () => {
    const first = await openPaired(scene);
    const second = await linkWhatsApp(scene);
    second.start();
    await untilState(first, "replaced");
    await untilState(second, "open");
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(first.state().kind).toBe("replaced");
    await second.stop();
    first.start();
    await untilState(first, "open");
  });

  test("that was replaced can be started from within a listener", async () => {
    const platform = await openPaired(scene);
    platform.on("state", ({ kind }) => {
      if (kind === "replaced") platform.start();
    });
    const replaced = nextOf(platform, "state");
    scene.fake.disconnect(440);
    expect((await replaced).kind).toBe("replaced");
    await untilState(platform, "open");
  });

  test("pairs again with new keys after the phone has unlinked it and the operator wants it", async () => {
    const platform = await linkWhatsApp(scene);
    platform.start();
    const { qr } = await untilState(platform, "pairing");
    await scene.fake.scan(qr);
    await untilState(platform, "open");
    scene.fake.disconnect(401);
    expect(await untilState(platform, "stopped")).toMatchObject({ code: 401 });
    await platform.logins.resume();
    const next = await untilState(platform, "pairing");
    expect(next.qr.split(",")[1]).not.toBe(qr.split(",")[1]);
    await scene.fake.scan(next.qr);
    await untilState(platform, "open");
    expect((await sendNew(platform, text("linked again"))).answer).toEqual({ outcome: "acked" });
  });

  test("can be unlinked while open, while disconnected and before it was started", async () => {
    const platform = await linkWhatsApp(scene);
    platform.start();
    await scene.fake.scan((await untilState(platform, "pairing")).qr);
    await untilState(platform, "open");
    expect(await platform.unlink()).toBe(true);
    await scene.fake.scan((await untilState(platform, "pairing")).qr);
    await untilState(platform, "open");

    scene.fake.leave();
    await untilState(platform, "closed");
    // the phone still lists the device
    expect(await platform.unlink()).toBe(false);
    scene.fake.comeBack();
    await untilState(platform, "pairing");

    await platform.stop();
    const idle = await linkWhatsApp(scene);
    expect(await idle.unlink()).toBe(true);
    expect(idle.state().kind).toBe("unpaired");
    expect(await scene.sql`select from messaging.auth_key`).toHaveLength(0);
  });

  test("can be unlinked while it reads whether an earlier run has stopped logins", async () => {
    const other = scene.connect(2);
    await other`update messaging.account set hold_code = 403`;
    const platform = await linkWhatsApp(scene);
    let unlinked: Promise<boolean> | undefined;
    await other.begin(async (tx) => {
      await tx`lock table messaging.account in access exclusive mode`;
      platform.start();
      await untilBlocked(other);
      unlinked = platform.unlink();
    });
    await unlinked;
    await untilState(platform, "pairing");
  });

  test("that was replaced can be unlinked while it is started again: the old keys are not used", async () => {
    const platform = await openPaired(scene);
    const replaced = untilState(platform, "replaced");
    scene.fake.disconnect(440);
    await replaced;
    const { logins } = scene.fake.sockets;
    const other = scene.connect(2);
    let unlinked: Promise<boolean> | undefined;
    await other.begin(async (tx) => {
      await tx`lock table messaging.auth_key in access exclusive mode`;
      unlinked = platform.unlink();
      await untilBlocked(other);
      platform.start();
    });
    expect(await unlinked).toBe(false);
    await untilState(platform, "pairing");
    // of the new keys, which offer themselves to a phone
    expect([scene.fake.sockets.logins - logins, scene.fake.sockets.loggedIn]).toEqual([1, 0]);
  });

  test("that is stopped while logins are resumed does not report that they were", async () => {
    const platform = await openPaired(scene);
    scene.fake.behave({ loginFailure: { code: 403 } });
    scene.fake.disconnect("drop");
    await untilState(platform, "stopped");
    const held = () => scene.sql`select hold_code from messaging.account`;
    await expect.poll(held).toEqual([{ hold_code: 403 }]);
    const resuming = failureOf(platform.logins.resume());
    await platform.stop();
    expect((await resuming).reason).toBe("aborted");
    expect(await held()).toEqual([{ hold_code: 403 }]);
  });

  test("that waits for its next attempt makes it at once when the operator wants it", async () => {
    const platform = await openPaired(scene);
    // tried again after five minutes
    scene.fake.disconnect(419);
    await untilState(platform, "closed");
    await platform.logins.resume();
    await untilState(platform, "open");
  });

  test("that is banned for a time is not tried before, whatever the operator wants", async () => {
    const platform = await openPaired(scene);
    scene.fake.behave({ loginFailure: { code: 402 } });
    scene.fake.disconnect("drop");
    const isBanned = () => {
      const state = platform.state();
      return state.kind === "closed" && state.code === 402;
    };
    await expect.poll(isBanned).toBe(true);
    const { logins } = scene.fake.sockets;
    expect((await failureOf(platform.logins.resume())).reason).toBe("not-connected");
    expect([isBanned(), scene.fake.sockets.logins]).toEqual([true, logins]);
  });

  test("reconnects after a failure, with growing delays", async () => {
    const platform = await openPaired(scene);
    const waits: number[] = [];
    platform.on("state", (state) => {
      if (state.kind === "closed" && state.retryAt)
        waits.push(state.retryAt.getTime() - state.since.getTime());
    });
    scene.fake.leave();
    await expect.poll(() => waits.length).toBeGreaterThan(5);
    scene.fake.comeBack();
    await untilState(platform, "open");
    expect(waits[4]).toBeGreaterThan(80);
    expect(Math.max(...waits)).toBeLessThanOrEqual(201);
    expect((await sendNew(platform, text("back"))).answer).toEqual({ outcome: "acked" });
  });

  test("is open at most once, however often it is started and stopped", async () => {
    const platform = await openPaired(scene);
    const most = scene.fake.sockets.mostLoggedIn;
    platform.start();
    platform.start();
    for (let i = 0; i < 5; i++) {
      const stopped = platform.stop();
      await stopped;
      expect(scene.fake.sockets.loggedIn).toBe(0);
      platform.start();
      if (i % 2 === 0) await untilState(platform, "open");
    }
    await untilState(platform, "open");
    expect(scene.fake.sockets.mostLoggedIn).toBe(most);
    expect(most).toBe(1);
  });
});

test("a lookup of a number fails as soon as the connection ends", async () => {
  const platform = await openPaired(scene);
  const asking = failureOf(platform.findJid(citizen));
  await platform.stop();
  expect(await asking).toMatchObject({ reason: "connection-lost", mayHaveLeft: false });
});
