import { setTimeout } from "node:timers/promises";
import { Fault } from "#lib/faults/fault.ts";
import type { Means } from "./context.ts";

const firstDelayMs = 250;
const longestDelayMs = 15_000;

/** The task is away, or another request with the same key is under way. */
const passes = (error: unknown): boolean =>
  error instanceof Fault && (error.status === 503 || error.status === 409 || error.status === 429);

/** Until when, in Unix milliseconds, a messenger that is away now is waited for. */
export const patienceOf = ({ until, patienceMs }: Pick<Means, "until" | "patienceMs">): number =>
  Math.min(until, Date.now() + patienceMs);

/**
 * Tries again for as long as the messenger is away.
 *
 * @param until Unix milliseconds after which it is not tried again.
 * @param mayPass whether another attempt may do better.
 * @throws what `work` threw last.
 */
export const withPatience = async <T>(
  until: number,
  work: () => Promise<T>,
  mayPass: (error: unknown) => boolean = passes,
): Promise<T> => {
  for (let delayMs = firstDelayMs; ; delayMs = Math.min(2 * delayMs, longestDelayMs))
    try {
      return await work();
    } catch (error) {
      if (!mayPass(error) || Date.now() + delayMs > until) throw error;
      await setTimeout(delayMs);
    }
};
