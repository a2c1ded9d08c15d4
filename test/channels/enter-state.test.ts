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

  // one that is open for seconds only is no better
  state = enterState(state, { kind: "open", as: "6281200000001" });
  clock.pass(59_000);
  state = enterState(state, { kind: "closed" });
  expect(state.downSince).toEqual(lost);

  state = enterState(state, { kind: "open", as: "6281200000001" });
  clock.pass(60_000);
  expect(enterState(state, { kind: "closed" }).downSince).toEqual(new Date());
});
