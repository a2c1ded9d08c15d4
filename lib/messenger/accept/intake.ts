import { setImmediate } from "node:timers/promises";
import type postgres from "postgres";
import { type NewMessage, storeMessages } from "../outbox/store.ts";

/** Rows in one statement. */
const maxRows = 200;

interface Waiting {
  readonly message: NewMessage;
  readonly resolve: (acceptedAt: Date) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Takes messages into the outbox. Those that come at once share a statement and its commit, so that many
 * callers cost little more than one; each is answered when its own row is durable.
 *
 * @returns a function that stores one message and says when it was accepted.
 */
export const openIntake = (sql: postgres.Sql): ((message: NewMessage) => Promise<Date>) => {
  const waiting: Waiting[] = [];
  let underWay = false;

  /** One statement at a time, so that messages keep their order; what comes meanwhile goes with the next. */
  const flush = async (): Promise<void> => {
    if (underWay || waiting.length === 0) return;
    underWay = true;
    await setImmediate(); // those whose requests have come but are not read yet go along
    const batch = waiting.splice(0, maxRows);
    try {
      const acceptedAt = await storeMessages(
        sql,
        batch.map(({ message }) => message),
      );
      for (const { resolve } of batch) resolve(acceptedAt);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      underWay = false;
      void flush();
    }
  };

  return (message) => {
    const { promise, resolve, reject } = Promise.withResolvers<Date>();
    waiting.push({ message, resolve, reject });
    void flush();
    return promise;
  };
};
