import { setTimeout } from "node:timers/promises";
import { ApiError } from "#lib/errors/api-error.ts";
import type { NotifyContext } from "./context.ts";

const firstDelayMs = 250;
const maxDelayMs = 15_000;

/** Whether the messenger is unavailable, or busy with another request with the same key. */
const isTransient = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 503 || error.status === 409 || error.status === 429);

/** Unix milliseconds until which calls to an unavailable messenger are retried. */
export const retryDeadline = ({ until, maxWaitMs }: Pick<NotifyContext, "until" | "maxWaitMs">): number =>
  Math.min(until, Date.now() + maxWaitMs);

/**
 * Retries work with exponential backoff while its error is transient.
 *
 * @param until Unix milliseconds after which no retry starts.
 * @throws the error of the last attempt.
 */
export const withRetry = async <T>(
  until: number,
  work: () => Promise<T>,
  isRetryable: (error: unknown) => boolean = isTransient,
): Promise<T> => {
  for (let delayMs = firstDelayMs; ; delayMs = Math.min(2 * delayMs, maxDelayMs))
    try {
      return await work();
    } catch (error) {
      if (!isRetryable(error) || Date.now() + delayMs > until) throw error;
      await setTimeout(delayMs);
    }
};
