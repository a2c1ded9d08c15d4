import { setTimeout } from "node:timers/promises";
import type postgres from "postgres";
import { log } from "#lib/log.ts";
import { expire } from "./lifecycle.ts";
import { deleteMedia, releaseMedia } from "./media.ts";
import { dropCodes } from "./next-channel.ts";

const everyMs = 5_000;
/** Rounds between two sweeps. */
const sweepEvery = 12;
/** Rows per statement, which takes about 20 ms. */
const batch = 1_000;
/** Media per statement: up to 50 MiB each. */
const mediaBatch = 20;

/**
 * Each deletes a batch of what is no longer needed once a message has ended. Rows are deleted later, by their age
 * (`city.retention` of the database).
 */
const sweeps: readonly ((sql: postgres.Sql) => Promise<{ readonly count: number }>)[] = [
  async (sql) => ({ count: await releaseMedia(sql, batch) }),
  async (sql) => ({ count: await deleteMedia(sql, mediaBatch) }),
  async (sql) => ({ count: await dropCodes(sql, batch) }),
  // the row is kept: a platform may report about it later
  (sql) => sql`
    update messaging.payload set bytes = '', drop_at = null where (seq, channel) in (
      select p.seq, p.channel from messaging.payload p join messaging.message using (seq)
      where drop_at <= now() and not is_open limit ${batch})`,
];

export const sweep = async (sql: postgres.Sql, signal: AbortSignal): Promise<void> => {
  for (const remove of sweeps) while (!signal.aborted && (await remove(sql)).count > 0);
};

/** Expires late messages and erases media, encoded messages and codes until the signal is aborted. */
export const runRetention = async (sql: postgres.Sql, signal: AbortSignal): Promise<void> => {
  for (let round = 0; !signal.aborted; round++) {
    const work = async () => {
      await expire(sql);
      if (round % sweepEvery === 0) await sweep(sql, signal);
    };
    await work().catch((error: unknown) => log.warn("retention failed", { error }));
    await setTimeout(everyMs, undefined, { signal }).catch(() => {});
  }
};
