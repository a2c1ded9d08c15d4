import { randomBytes } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import type { Platform as FakePlatform } from "../../infra/local/platform/platform.ts";
import {
  citizen,
  createSessionDatabase,
  failureOf,
  nextOf,
  openPaired,
  openSession,
  ownNumber,
  sendNew,
  startFake,
  text,
  untilState,
} from "../steps/platform-session.ts";

let sql: Awaited<ReturnType<typeof createSessionDatabase>>["sql"];
let fake: FakePlatform;

beforeEach(async () => {
  [{ sql }, fake] = await Promise.all([createSessionDatabase(), startFake()]);
});

const inboxTexts = () => fake.phone(citizen).inbox.map((received) => received.text);

describe("pairing", () => {
  test("links by QR code and opens as the phone's number", async () => {
    const platform = await openPaired({ fake, sql });
    expect(platform.state()).toMatchObject({ kind: "open", as: ownNumber });
    expect(fake.faults).toEqual([]);
  });

  test("links by a code that is typed on the phone", async () => {
    const platform = await openSession({ fake, sql });
    expect((await failureOf(platform.requestPairingCode(ownNumber))).reason).toBe("not-connected");
    platform.start();
    await untilState(platform, "pairing");
    const code = await platform.requestPairingCode(ownNumber);
    expect(platform.state()).toMatchObject({ kind: "pairing", code });
    const entered = () => fake.enterCode(code).then(Boolean, () => false);
    await expect.poll(entered).toBe(true);
    expect(await untilState(platform, "open")).toMatchObject({ as: ownNumber });
  });

  test("is not needed again by the next process over the same database", async () => {
    const first = await openPaired({ fake, sql });
    await sendNew(first, text("one"));
    await first.stop();
    expect(first.state().kind).toBe("closed");
    const second = await openSession({ fake, sql });
    second.start();
    await untilState(second, "open");
    expect((await sendNew(second, text("two"))).answer).toEqual({ outcome: "acked" });
    expect(inboxTexts()).toEqual(["one", "two"]);
    expect(fake.phone(citizen).failures).toEqual([]);
  });

  test("is refused to a server whose certificate another authority signed", async () => {
    const rootKey = randomBytes(32);
    const platform = await openSession({ fake, sql, settings: { rootKey } });
    const codes: (number | undefined)[] = [];
    platform.on("state", (state) => {
      expect(["connecting", "closed"]).toContain(state.kind);
      if (state.kind === "closed") codes.push(state.code);
    });
    platform.start();
    await expect.poll(() => codes.length).toBeGreaterThan(1);
    expect(new Set(codes)).toEqual(new Set([400]));
    expect(fake.sockets.everOpened).toBeGreaterThan(1);
    await expect(fake.scan("2@x,y,z")).rejects.toThrow("no client");
  });
});

describe("a connection", () => {
  test("that is told to restart is made anew at once", async () => {
    const settings = { reconnection: { minMs: 30_000 } };
    const platform = await openPaired({ fake, sql, settings });
    const closed = nextOf(platform, "state");
    fake.disconnect(515);
    expect(await closed).toMatchObject({ kind: "closed", code: 515 });
    await untilState(platform, "open");
    expect(fake.sockets.mostOpen).toBeLessThanOrEqual(2);
  });

  test("that another one replaces is left until it is told to come back", async () => {
    const first = await openPaired({ fake, sql });
    const second = await openSession({ fake, sql });
    second.start();
    await untilState(first, "replaced");
    await untilState(second, "open");
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(first.state().kind).toBe("replaced");
    await second.stop();
    first.start();
    await untilState(first, "open");
  });

  test("that was replaced may be taken back from within the listener", async () => {
    const platform = await openPaired({ fake, sql });
    platform.on("state", ({ kind }) => {
      if (kind === "replaced") platform.start();
    });
    const replaced = nextOf(platform, "state");
    fake.disconnect(440);
    expect((await replaced).kind).toBe("replaced");
    await untilState(platform, "open");
  });

  test("that the phone unlinks begins pairing anew, with other keys", async () => {
    const platform = await openSession({ fake, sql });
    platform.start();
    const { qr } = await untilState(platform, "pairing");
    await fake.scan(qr);
    await untilState(platform, "open");
    fake.disconnect(401);
    await untilState(platform, "unpaired");
    const next = await untilState(platform, "pairing");
    expect(next.qr.split(",")[1]).not.toBe(qr.split(",")[1]);
    await fake.scan(next.qr);
    await untilState(platform, "open");
    expect((await sendNew(platform, text("linked again"))).answer).toEqual({ outcome: "acked" });
  });

  test("can be unlinked from here, also while it is broken and when it never began", async () => {
    const platform = await openSession({ fake, sql });
    platform.start();
    await fake.scan((await untilState(platform, "pairing")).qr);
    await untilState(platform, "open");
    await platform.unlink();
    await fake.scan((await untilState(platform, "pairing")).qr);
    await untilState(platform, "open");

    fake.leave();
    await untilState(platform, "closed");
    await platform.unlink();
    fake.comeBack();
    await untilState(platform, "pairing");

    await platform.stop();
    const idle = await openSession({ fake, sql });
    await idle.unlink();
    expect(idle.state().kind).toBe("unpaired");
    expect(await sql`select from messaging.session_key`).toHaveLength(0);
  });

  test("that breaks comes back by itself, with waits that grow", async () => {
    const platform = await openPaired({ fake, sql });
    const waits: number[] = [];
    platform.on("state", (state) => {
      if (state.kind === "closed" && state.retryAt)
        waits.push(state.retryAt.getTime() - state.since.getTime());
    });
    fake.leave();
    await expect.poll(() => waits.length, { timeout: 5_000 }).toBeGreaterThan(5);
    fake.comeBack();
    await untilState(platform, "open");
    expect(waits[4]).toBeGreaterThan(80);
    expect(Math.max(...waits)).toBeLessThanOrEqual(201);
    expect((await sendNew(platform, text("back"))).answer).toEqual({ outcome: "acked" });
  });

  test("is never there twice, however often it is started and stopped", async () => {
    const platform = await openPaired({ fake, sql });
    const most = fake.sockets.mostLoggedIn;
    platform.start();
    platform.start();
    for (let i = 0; i < 5; i++) {
      const stopped = platform.stop();
      await stopped;
      expect(fake.sockets.loggedIn).toBe(0);
      platform.start();
      if (i % 2 === 0) await untilState(platform, "open");
    }
    await untilState(platform, "open");
    expect(fake.sockets.mostLoggedIn).toBe(most);
    expect(most).toBe(1);
  });
});
