import { expect, test } from "vitest";
import { retryUntilDone } from "#lib/messenger/outbox/retry.ts";

test("retries until the work succeeds", async () => {
  let tries = 0;
  const work = async () => {
    tries += 1;
    if (tries < 3) throw new Error("unavailable");
  };
  await retryUntilDone(work, new AbortController().signal);
  expect(tries).toBe(3);
});

test("stops when the signal is aborted", async () => {
  const end = new AbortController();
  let tries = 0;
  const work = async () => {
    tries += 1;
    end.abort();
    throw new Error("unavailable");
  };
  await retryUntilDone(work, end.signal);
  expect(tries).toBe(1);
});

test.each(["22003", "23502"])(
  "rethrows an error that means that the database rejects a value: %s",
  async (code) => {
    const error = Object.assign(new Error("rejected"), { code });
    const signal = AbortSignal.timeout(5_000);
    await expect(retryUntilDone(() => Promise.reject(error), signal)).rejects.toBe(error);
  },
);
