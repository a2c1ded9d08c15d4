import { expect, test, vi } from "vitest";
import { Wakeup } from "#lib/messenger/outbox/wakeup.ts";

const signal = new AbortController().signal;
const longMs = 600_000;

test("a message that is accepted while the outbox is searched ends the next wait at once, and only that one", async () => {
  vi.useFakeTimers();
  const wakeup = new Wakeup();
  wakeup.notify();
  await wakeup.wait(longMs, signal);
  const waited = vi.fn();
  const second = wakeup.wait(longMs, signal).then(waited);
  await vi.advanceTimersByTimeAsync(longMs - 1);
  expect(waited).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  await second;
  vi.useRealTimers();
});

test("a notification ends every wait under way, and no later one", async () => {
  const wakeup = new Wakeup();
  const waits = [wakeup.wait(longMs, signal), wakeup.wait(longMs, signal)];
  wakeup.notify();
  await Promise.all(waits);
  await wakeup.wait(1, signal);
});
