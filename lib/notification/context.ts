import { setTimeout } from "node:timers/promises";
import type postgres from "postgres";
import { ApiError } from "#lib/errors/api-error.ts";
import type { Draft } from "#lib/messaging/messenger-client.ts";
import type { Accepted } from "#lib/messaging/submission.ts";

export interface NotifyContext {
  /** Two connections of the role `municipal_notify`: one reads an audience while the other writes. */
  readonly sql: postgres.Sql;
  readonly submit: (draft: Draft) => Promise<Accepted>;
  readonly submitBatch: (drafts: readonly Draft[]) => Promise<string[]>;
  /** Digests phone numbers, so that they can be compared without being stored. */
  readonly pepper: { readonly version: number; readonly digest: (phone: string) => Buffer | null };
  /** Unix milliseconds after which no new work starts. */
  readonly until: number;
  /** How long to retry while the messenger is unavailable. */
  readonly maxWaitMs: number;
}

/** What a bulk run needs. Its connections are those of the messenger. */
export interface BulkContext extends Omit<NotifyContext, "submit"> {
  /** Returns in how many days the message to each number could be sent. */
  readonly plan: (phones: readonly string[]) => Promise<number[]>;
}

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
