import { expect, test } from "vitest";
import { retryUntilDone } from "#lib/messenger/outbox/retry.ts";

test("does what fails again until it is done, and then no more", async () => {
  let tries = 0;
  const work = async () => {
    tries += 1;
    if (tries < 3) throw new Error("away");
  };
  await retryUntilDone(work, new AbortController().signal);
  expect(tries).toBe(3);
});

test("gives up when it is called off", async () => {
  const end = new AbortController();
  let tries = 0;
  const work = async () => {
    tries += 1;
    end.abort();
    throw new Error("away");
  };
  await retryUntilDone(work, end.signal);
  expect(tries).toBe(1);
});
