import { expect, test } from "vitest";
import { Reconnection } from "#lib/messenger/channels/whatsapp/reconnection.ts";

const least = () => 0;
const most = () => 0.999_999;

test("the waits double from 1 s to 60 s, with a jitter of half their length", () => {
  for (const [random, factor] of [
    [least, 0.5],
    [most, 1],
  ] as const) {
    const reconnection = new Reconnection({}, random);
    const waits = Array.from({ length: 9 }, () => {
      const next = reconnection.next(428, 0);
      return next.step === "reconnect" ? Math.round(next.afterMs / 1_000 / factor) : undefined;
    });
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
  }
});

test("they are short again only after a connection that was stable", () => {
  const reconnection = new Reconnection({ stableMs: 30_000 }, most);
  for (let i = 0; i < 4; i++) reconnection.next(428, 0);
  reconnection.noteOpen(1_000);
  expect(reconnection.next(428, 20_000)).toMatchObject({ afterMs: expect.closeTo(16_000, -2) });
  reconnection.noteOpen(40_000);
  expect(reconnection.next(428, 70_000)).toMatchObject({ afterMs: expect.closeTo(1_000, -2) });
});

test("a restart that is asked for is at once, unless it is asked for again and again", () => {
  const reconnection = new Reconnection({}, most);
  const waits = Array.from({ length: 4 }, () => reconnection.next(515, 0));
  expect(waits.slice(0, 3)).toEqual(Array(3).fill({ step: "reconnect", afterMs: 0 }));
  expect(waits[3]).toMatchObject({ afterMs: expect.closeTo(8_000, -2) });
});

test("a replaced connection gives way, and an unlinked one forgets its keys at once", () => {
  expect(new Reconnection().next(440, 0)).toEqual({ step: "yield" });
  const reconnection = new Reconnection({}, most);
  expect(reconnection.next(401, 0)).toEqual({ step: "forget", afterMs: 0 });
  expect(reconnection.next(401, 0)).toMatchObject({ step: "forget", afterMs: expect.closeTo(2_000, -2) });
});

test("what time does not mend soon is tried again after five minutes", () => {
  for (const code of [403, 405, 411, 419])
    expect(new Reconnection().next(code, 0)).toEqual({ step: "reconnect", afterMs: 300_000 });
});
