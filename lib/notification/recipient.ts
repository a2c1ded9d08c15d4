import type postgres from "postgres";
import type { Job } from "./jobs.ts";
import { countRecipients, type Outcome } from "./run.ts";

/** For what a recipient is told once: a scheduled time of a job, or the job for ever. */
export interface Occasion {
  readonly job: string;
  /** As PostgreSQL writes a time. */
  readonly at: string;
}

export const occasionOf = ({ name, once }: Job, scheduledAt: Date): Occasion => ({
  job: name,
  at: once === "run" ? scheduledAt.toISOString() : "-infinity",
});

/** What became of a recipient. */
export interface Told {
  readonly key: string;
  readonly outcome: Outcome;
  /** Why it was refused, without any data. */
  readonly reason?: string | undefined;
  /** In the outbox. */
  readonly messageId?: string | undefined;
}

/** What is known already of these keys. */
export const listTold = async (
  sql: postgres.Sql,
  { job, at }: Occasion,
  keys: readonly string[],
): Promise<Map<string, Told>> => {
  const rows = await sql<Told[]>`
    select dedupe_key as key, outcome, reason from notification.recipient
    where job = ${job} and occasion = ${at}::text::timestamptz
      and dedupe_key in (select jsonb_array_elements_text(${JSON.stringify(keys)}::text::jsonb))`;
  return new Map(rows.map((row) => [row.key, row]));
};

/** Keeps what became of recipients in a run, and its counts, in one transaction. */
export const recordTold = async (
  sql: postgres.Sql,
  { job, at }: Occasion,
  run: string,
  told: readonly Told[],
): Promise<void> => {
  if (told.length === 0) return;
  await sql.begin(async (transaction) => {
    await transaction`
      insert into notification.recipient as held (job, occasion, dedupe_key, run_id, outcome, reason, message_id)
      select ${job}, ${at}::text::timestamptz, key, ${run}::uuid, outcome, reason, "messageId"
      from jsonb_to_recordset(${JSON.stringify(told)}::text::jsonb)
        as g (key text, outcome text, reason text, "messageId" text)
      order by key
      on conflict (job, occasion, dedupe_key) do update
      set run_id = excluded.run_id, outcome = excluded.outcome, reason = excluded.reason,
        message_id = excluded.message_id, seen_at = now()
      -- whoever was told in another run meanwhile was told by that one
      where held.outcome <> 'accepted'`;
    await countRecipients(transaction, run);
  });
};

/** Notes once a day that recipients are still shown: who is not seen for a month is forgotten. */
export const noteSeen = async (
  sql: postgres.Sql,
  { job, at }: Occasion,
  keys: readonly string[],
): Promise<void> => {
  await sql`
    update notification.recipient set seen_at = now()
    where job = ${job} and occasion = ${at}::text::timestamptz and seen_at < now() - interval '1 day'
      and dedupe_key in (select jsonb_array_elements_text(${JSON.stringify(keys)}::text::jsonb))`;
};

/** Those whom a run did not reach, with the reason. */
export const listMissed = (sql: postgres.Sql, run: string, limit: number) => sql<Told[]>`
  select dedupe_key as key, outcome, reason from notification.recipient
  where run_id = ${run} and outcome in ('refused', 'expired') order by dedupe_key limit ${limit}`;
