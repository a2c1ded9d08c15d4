import { expect, test } from "vitest";
import { type ConnectionState, enterState } from "#lib/channels/channel.ts";
import { stopClock } from "../steps/secrets.ts";

test("a connection is down since it was last open, however often it is tried again", () => {
  const clock = stopClock();
  let state: ConnectionState = { kind: "open", as: "6281200000001", since: new Date() };
  clock.pass(60_000);
  const lost = new Date();
  for (let attempt = 0; attempt < 3; attempt++) {
    state = enterState(state, { kind: "closed", code: 503 });
    clock.pass(20_000);
    state = enterState(state, { kind: "connecting" });
    clock.pass(20_000);
  }
  expect(state.downSince).toEqual(lost);
  state = enterState(state, { kind: "open", as: "6281200000001" });
  expect([state.downSince, state.since]).toEqual([undefined, new Date()]);
  expect(enterState(state, { kind: "closed" }).downSince).toEqual(new Date());
});
