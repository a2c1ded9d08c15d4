import { setTimeout } from "node:timers/promises";
import { log } from "#lib/log.ts";

const retryDelayMs = 300;

/** Whether the database rejects a value: classes 22, data exceptions, and 23, violated constraints. */
export const isRejectedValue = (error: unknown): boolean =>
  error instanceof Error && /^2[23][0-9A-Z]{3}$/.test(String((error as { code?: unknown }).code));

/**
 * Retries work until it succeeds, such as an update while the database is unavailable.
 *
 * @param signal stops the retries.
 * @throws the error of a value that the database would reject each time.
 */
export const retryUntilDone = async (work: () => Promise<unknown>, signal: AbortSignal): Promise<void> => {
  for (;;) {
    const done = await work().then(
      () => true,
      (error: unknown) => {
        if (!isRejectedValue(error)) return false;
        log.error("the database rejects a value", { error });
        throw error;
      },
    );
    if (done || signal.aborted) return;
    await setTimeout(retryDelayMs, undefined, { signal }).catch(() => {});
  }
};
