import { expect, test } from "vitest";
import { Reconnection } from "#lib/channels/whatsapp/link/reconnection.ts";

const least = () => 0;
const most = () => 0.999_999;

test("the delay doubles from 1 s to 60 s, with a jitter of up to half of it", () => {
  for (const [random, factor] of [
    [least, 0.5],
    [most, 1],
  ] as const) {
    const reconnection = new Reconnection({}, random);
    const waits = Array.from({ length: 9 }, () => {
      const next = reconnection.next({ code: 428 }, 0);
      return next.step === "reconnect" ? Math.round(next.afterMs / 1_000 / factor) : undefined;
    });
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
  }
});

test("only a stable connection resets the delay", () => {
  const reconnection = new Reconnection({ stableMs: 30_000 }, most);
  for (let i = 0; i < 4; i++) reconnection.next({ code: 428 }, 0);
  reconnection.recordOpen(1_000);
  expect(reconnection.next({ code: 428 }, 20_000)).toMatchObject({ afterMs: expect.closeTo(16_000, -2) });
  reconnection.recordOpen(40_000);
  expect(reconnection.next({ code: 428 }, 70_000)).toMatchObject({ afterMs: expect.closeTo(1_000, -2) });
});

test("requested restarts are immediate, up to three in a row", () => {
  const reconnection = new Reconnection({}, most);
  const waits = Array.from({ length: 4 }, () => reconnection.next({ code: 515 }, 0));
  expect(waits.slice(0, 3)).toEqual(Array(3).fill({ step: "reconnect", afterMs: 0 }));
  expect(waits[3]).toMatchObject({ afterMs: expect.closeTo(8_000, -2) });
});

test("a replaced connection yields; an unlinked one gets new keys at once", () => {
  expect(new Reconnection().next({ code: 440 }, 0)).toEqual({ step: "yield" });
  const reconnection = new Reconnection({}, most);
  expect(reconnection.next({ code: 401 }, 0)).toEqual({ step: "relink", afterMs: 0 });
  expect(reconnection.next({ code: 401 }, 0)).toMatchObject({
    step: "relink",
    afterMs: expect.closeTo(2_000, -2),
  });
});

test.each([
  [
    { code: 402, expireSeconds: 90 },
    { step: "wait", afterMs: 90_000 },
  ],
  [{ code: 402 }, { step: "wait", afterMs: 3_600_000 }],
  [{ code: 403 }, { step: "stop" }],
  [{ code: 405 }, { step: "update" }],
  [{ code: 406 }, { step: "stop" }],
  [{ code: 409 }, { step: "reconnect", afterMs: 300_000 }],
  [{ code: 411 }, { step: "reconnect", afterMs: 300_000 }],
  [{ code: 500 }, { step: "reconnect", afterMs: 500 }],
  [{ code: 503 }, { step: "reconnect", afterMs: 500 }],
  [{ code: 499 }, { step: "reconnect", afterMs: 500 }],
  [{ code: undefined }, { step: "reconnect", afterMs: 500 }],
])("%j is followed by %j", (disconnection, next) =>
  expect(new Reconnection({}, least).next(disconnection, 0)).toEqual(next),
);
