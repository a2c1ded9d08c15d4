import { setTimeout } from "node:timers/promises";

const retryDelayMs = 300;

/**
 * Retries work until it succeeds, such as an update while the database is unavailable.
 *
 * @param signal stops the retries.
 */
export const retryUntilDone = async (work: () => Promise<unknown>, signal: AbortSignal): Promise<void> => {
  for (;;) {
    const done = await work().then(
      () => true,
      () => false,
    );
    if (done || signal.aborted) return;
    await setTimeout(retryDelayMs, undefined, { signal }).catch(() => {});
  }
};
