import { setTimeout } from "node:timers/promises";

const againAfterMs = 300;

/**
 * Does what must not be left undone, again and again while the database is away.
 *
 * @param signal ends the trying.
 */
export const retryUntilDone = async (work: () => Promise<unknown>, signal: AbortSignal): Promise<void> => {
  for (;;) {
    const done = await work().then(
      () => true,
      () => false,
    );
    if (done || signal.aborted) return;
    await setTimeout(againAfterMs, undefined, { signal }).catch(() => {});
  }
};
