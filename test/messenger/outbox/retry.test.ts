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
