import { setTimeout } from "node:timers/promises";
import type postgres from "postgres";
import { log } from "#lib/log.ts";
import { deleteMedia, releaseMedia } from "./media.ts";
import { expire } from "./outcome.ts";

const everyMs = 5_000;
/** Rounds between two sweeps of what is only old. */
const sweepEvery = 12;
/** Rows of one statement, some 20 ms each. */
const batch = 1_000;
/** Media of one statement: up to 50 MiB each. */
const mediaBatch = 20;

/** What nobody needs any more: a phone number and a text are personal data. Each deletes a batch. */
const sweeps: readonly ((sql: postgres.Sql) => Promise<{ readonly count: number }>)[] = [
  async (sql) => ({ count: await releaseMedia(sql, batch) }),
  async (sql) => ({ count: await deleteMedia(sql, mediaBatch) }),
  // a phone may ask for a message again for some days; the oldest have the lowest numbers, by which they are found
  (sql) => sql`
    delete from messaging.payload where seq in (
      select seq from (select seq from messaging.payload order by seq limit ${batch}) oldest
        join messaging.message using (seq)
      where not is_open and accepted_at < now() - interval '7 days')`,
  (sql) => sql`
    delete from messaging.message where seq in (
      select seq from (select seq, is_open, accepted_at from messaging.message order by seq limit ${batch}) oldest
      where not is_open and accepted_at < now() - interval '30 days')`,
  (sql) => sql`
    delete from messaging.idempotency where key_digest in (
      select key_digest from messaging.idempotency where created_at < now() - interval '25 hours' limit ${batch})`,
  (sql) => sql`
    delete from messaging.number_check where phone in (
      select phone from messaging.number_check where checked_at < now() - interval '30 days' limit ${batch})`,
];

/** Deletes all that is old, however much it is. */
export const sweep = async (sql: postgres.Sql, signal: AbortSignal): Promise<void> => {
  for (const remove of sweeps) while (!signal.aborted && (await remove(sql)).count > 0);
};

/** Expires late messages and deletes old rows until the signal is aborted. */
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
