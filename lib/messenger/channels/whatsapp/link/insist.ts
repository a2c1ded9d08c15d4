import { setTimeout } from "node:timers/promises";
import { log } from "#lib/log.ts";

const retryMs = 1_000;

/** Retries what must be in the database before the next login, until the signal. @returns whether it is. */
export const insist = async (
  what: string,
  work: () => Promise<void>,
  signal: AbortSignal,
): Promise<boolean> => {
  while (!signal.aborted) {
    try {
      await work();
      return true;
    } catch (error) {
      log.error(`cannot ${what}`, { error });
      await setTimeout(retryMs, undefined, { signal }).catch(() => {});
    }
  }
  return false;
};
