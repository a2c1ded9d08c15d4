import { setTimeout } from "node:timers/promises";
import type postgres from "postgres";
import { log } from "#lib/log.ts";
import { listAwaited, type OpenFrom, releaseDue } from "../outbox/next.ts";
import type { Wakeup } from "../outbox/wakeup.ts";

const everyMs = 500;
/** Least time between two queries. */
const minMs = 20;

export interface WatchOptions {
  readonly sql: postgres.Sql;
  /** Wakes the senders of the accounts that this task leads, by the account's id. */
  readonly senders: () => ReadonlyMap<number, Pick<Wakeup, "notify">>;
  /** That of the senders. */
  readonly openFrom: OpenFrom;
  /** Notified of each accepted message. */
  readonly wakeup: Wakeup;
  readonly signal: AbortSignal;
}

/**
 * Wakes the senders for which a message waits, with one query for all accounts of the task, until the signal is aborted: of
 * hundreds that are idle none asks by itself.
 */
export const runWatch = async ({ sql, senders, openFrom, wakeup, signal }: WatchOptions): Promise<void> => {
  const look = async () => {
    const led = senders();
    if (led.size === 0) return;
    await releaseDue(sql);
    for (const id of await listAwaited(sql, [...led.keys()], await openFrom.find(sql))) led.get(id)?.notify();
  };
  while (!signal.aborted) {
    // a message that is accepted during the query may not be seen by it
    const woken = wakeup.wait(everyMs, signal);
    await look().catch((error: unknown) => log.warn("cannot look for messages that wait", { error }));
    await setTimeout(minMs);
    await woken;
  }
};
