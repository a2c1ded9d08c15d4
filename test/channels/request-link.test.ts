import { expect, onTestFinished, test } from "vitest";
import { AccountRejected, RequestLink } from "#lib/channels/request-link.ts";

test("a rejected account is held also when the database was away at first", async () => {
  const held: number[] = [];
  let attempts = 0;
  const link = new RequestLink({
    hold: async (code) => {
      attempts += 1;
      if (attempts === 1) throw new Error("no connection");
      held.push(code);
    },
    release: async () => {},
  });
  onTestFinished(() => link.stop());
  const stopped = new Promise<void>((resolve) => {
    link.on("state", ({ kind }) => kind === "stopped" && resolve());
  });
  link.start(() => Promise.reject(new AccountRejected(190)));
  await stopped;
  expect(held).toEqual([190]);
});
