import { setTimeout } from "node:timers/promises";
import type postgres from "postgres";
import { log } from "#lib/log.ts";
import { expire } from "./lifecycle.ts";
import { deleteMedia, releaseMedia } from "./media.ts";
import { dropCodes } from "./next-channel.ts";

const everyMs = 5_000;
/** Rounds between two deletions of old rows. */
const sweepEvery = 12;
/** Rows per statement, which takes about 20 ms. */
const batch = 1_000;
/** Media per statement: up to 50 MiB each. */
const mediaBatch = 20;

/** Each deletes a batch of rows that are no longer needed: numbers and texts are personal data. */
const sweeps: readonly ((sql: postgres.Sql) => Promise<{ readonly count: number }>)[] = [
  async (sql) => ({ count: await releaseMedia(sql, batch) }),
  async (sql) => ({ count: await deleteMedia(sql, mediaBatch) }),
  async (sql) => ({ count: await dropCodes(sql, batch) }),
  // the row is kept: a platform may report about it later
  (sql) => sql`
    update messaging.payload set bytes = '', drop_at = null where (seq, channel) in (
      select p.seq, p.channel from messaging.payload p join messaging.message using (seq)
      where drop_at <= now() and not is_open limit ${batch})`,
  // phones may request a message again until it expires, and senders may reply to it for some days
  (sql) => sql`
    delete from messaging.payload where seq in (
      select seq from messaging.payload join messaging.message using (seq)
      where composed_at < now() - interval '7 days' and not is_open limit ${batch})`,
  // of one that was scheduled from when it was due
  (sql) => sql`
    delete from messaging.message where seq in (
      select seq from messaging.message
      where accepted_at < now() - interval '30 days' and not_before < now() - interval '30 days' and not is_open
      limit ${batch})`,
  (sql) => sql`
    delete from messaging.idempotency where key_digest in (
      select key_digest from messaging.idempotency where created_at < now() - interval '25 hours' limit ${batch})`,
  (sql) => sql`
    delete from messaging.answered where digest in (
      select digest from messaging.answered where at < now() - interval '24 hours' limit ${batch})`,
  // the chart shows 24 hours
  (sql) => sql`
    delete from messaging.ending where id in (
      select id from messaging.ending where hour < now() - interval '24 hours' limit ${batch})`,
  (sql) => sql`
    delete from messaging.callback_event where seq in (
      select seq from messaging.callback_event where given_up_at < now() - interval '30 days' limit ${batch})`,
  (sql) => sql`
    delete from messaging.number_check where (account, phone) in (
      select account, phone from messaging.number_check where checked_at < now() - interval '30 days' limit ${batch})`,
  // a number that nobody has written to for so long may have another owner
  (sql) => sql`
    delete from messaging.contact where (number, phone) in (
      select number, phone from messaging.contact where used_on < current_date - interval '24 months' limit ${batch})`,
  (sql) => sql`
    delete from messaging.route where (pool, phone) in (
      select pool, phone from messaging.route where used_on < current_date - interval '24 months' limit ${batch})`,
  (sql) => sql`
    delete from messaging.sender_day where (sender, day, slot) in (
      select sender, day, slot from messaging.sender_day where day < messaging.today() - 90 limit ${batch})`,
];

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
