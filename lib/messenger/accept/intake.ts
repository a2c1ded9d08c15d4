import { setImmediate } from "node:timers/promises";
import type postgres from "postgres";
import { ApiError } from "#lib/errors/api-error.ts";
import { keyInUse } from "#lib/errors/table.ts";
import { isRejectedValue } from "../outbox/retry.ts";
import { type NewMessage, storeMessages } from "../outbox/store.ts";

const maxRowsPerStatement = 200;

interface Waiting {
  readonly message: NewMessage;
  readonly resolve: (acceptedAt: Date) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Stores messages in batches: concurrent ones share a statement and its commit, so that many callers cost little
 * more than one. Each is answered when its own row is durable.
 *
 * @returns a function that stores one message and returns the time of acceptance. It throws a ApiError 409 if another
 * request has claimed the message's Idempotency-Key since.
 */
export const openIntake = (sql: postgres.Sql): ((message: NewMessage) => Promise<Date>) => {
  const waiting: Waiting[] = [];
  let isFlushing = false;

  const settle = async (batch: readonly Waiting[]): Promise<void> => {
    try {
      const stored = await storeMessages(
        sql,
        batch.map(({ message }) => message),
      );
      for (const { message, resolve, reject } of batch) {
        const acceptedAt = stored.get(message.id);
        if (acceptedAt) resolve(acceptedAt);
        else reject(new ApiError(keyInUse));
      }
    } catch (error) {
      // nothing is stored: a row that the database rejects fails alone
      if (batch.length > 1 && isRejectedValue(error)) for (const one of batch) await settle([one]);
      else for (const { reject } of batch) reject(error);
    }
  };

  /** Runs one statement at a time, so that messages keep their order. */
  const flush = async (): Promise<void> => {
    if (isFlushing || waiting.length === 0) return;
    isFlushing = true;
    await setImmediate(); // includes requests that have arrived but are not read yet
    await settle(waiting.splice(0, maxRowsPerStatement));
    isFlushing = false;
    void flush();
  };

  return (message) => {
    const { promise, resolve, reject } = Promise.withResolvers<Date>();
    waiting.push({ message, resolve, reject });
    void flush();
    return promise;
  };
};

/** Bytes that requests may hold in memory at a time, so that a flood of uploads cannot end the process. */
export class ByteBudget {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** @returns a function that gives the bytes back, once; undefined if they are not left. */
  take(bytes: number): (() => void) | undefined {
    if (bytes > this.#left) return undefined;
    this.#left -= bytes;
    let held = bytes;
    return () => {
      this.#left += held;
      held = 0;
    };
  }
}
