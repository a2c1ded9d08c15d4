import { setTimeout } from "node:timers/promises";
import type postgres from "postgres";
import { log } from "#lib/log.ts";
import { sweepMedia } from "./media.ts";
import { expire } from "./outcome.ts";

const everyMs = 5_000;
/** Rounds between two sweeps of what is only old. */
const sweepEvery = 12;
const batch = 1_000;

/** Takes away what nobody needs any more: a phone number and a text are personal data. */
const sweep = async (sql: postgres.Sql): Promise<void> => {
  await sweepMedia(sql);
  // a phone may ask for a message again for some days
  await sql`
    update messaging.message set payload = null where id in (
      select id from messaging.message
      where payload is not null and state not in ('PENDING', 'SENDING') and accepted_at < now() - interval '7 days'
      limit ${batch})`;
  await sql`
    delete from messaging.message where id in (
      select id from messaging.message
      where state not in ('PENDING', 'SENDING') and accepted_at < now() - interval '30 days'
      limit ${batch})`;
  await sql`
    delete from messaging.idempotency where key_digest in (
      select key_digest from messaging.idempotency where created_at < now() - interval '25 hours' limit ${batch})`;
  await sql`
    delete from messaging.number_check where phone in (
      select phone from messaging.number_check where checked_at < now() - interval '30 days' limit ${batch})`;
};

/** Ends what came too late and sweeps up what is old, until the signal ends it. */
export const runRetention = async (sql: postgres.Sql, signal: AbortSignal): Promise<void> => {
  for (let round = 0; !signal.aborted; round++) {
    const work = async () => {
      await expire(sql);
      if (round % sweepEvery === 0) await sweep(sql);
    };
    await work().catch((error: unknown) => log.warn("upkeep failed", { error }));
    await setTimeout(everyMs, undefined, { signal }).catch(() => {});
  }
};
