import type postgres from "postgres";
import type { Job } from "./jobs.ts";
import type { Outcome } from "./run.ts";

/** The scope in which a recipient is notified once: one run of a job, or all its runs. */
export interface DedupeScope {
  readonly job: string;
  /** Scheduled time of the run, or `-infinity` for all runs. */
  readonly at: string;
}

export const dedupeScopeOf = ({ name, once }: Job, scheduledAt: Date): DedupeScope => ({
  job: name,
  at: once === "run" ? scheduledAt.toISOString() : "-infinity",
});

export interface RecipientOutcome {
  readonly key: string;
  readonly outcome: Outcome;
  /** Contains no personal data. */
  readonly reason?: string | undefined;
  /** Id in the outbox. */
  readonly messageId?: string | undefined;
}

export const listOutcomes = async (
  sql: postgres.Sql,
  { job, at }: DedupeScope,
  keys: readonly string[],
): Promise<Map<string, RecipientOutcome>> => {
  const rows = await sql<RecipientOutcome[]>`
    select dedupe_key as key, outcome, reason from notification.recipient
    where job = ${job} and occasion = ${at}::text::timestamptz
      and dedupe_key in (select jsonb_array_elements_text(${JSON.stringify(keys)}::text::jsonb))`;
  return new Map(rows.map((row) => [row.key, row]));
};

/** Stores the outcomes of recipients and the counts of the run, in one transaction. */
export const storeOutcomes = async (
  sql: postgres.Sql,
  { job, at }: DedupeScope,
  run: string,
  outcomes: readonly RecipientOutcome[],
): Promise<void> => {
  if (outcomes.length === 0) return;
  await sql`
    select notification.store_outcomes(
      ${job}, ${at}::text::timestamptz, ${run}, ${JSON.stringify(outcomes)}::text::jsonb)`;
};

/** Updates, once a day, when recipients were last in the audience: after a month they are deleted. */
export const markSeen = async (
  sql: postgres.Sql,
  { job, at }: DedupeScope,
  keys: readonly string[],
): Promise<void> => {
  await sql`
    update notification.recipient set seen_at = now()
    where job = ${job} and occasion = ${at}::text::timestamptz and seen_at < now() - interval '1 day'
      and dedupe_key in (select jsonb_array_elements_text(${JSON.stringify(keys)}::text::jsonb))`;
};

/** Lists the recipients that a run did not reach, with the reason. */
export const listMissed = (sql: postgres.Sql, run: string, limit: number) => sql<RecipientOutcome[]>`
  select dedupe_key as key, outcome, reason from notification.recipient
  where run_id = ${run} and outcome in ('refused', 'expired') order by line, dedupe_key limit ${limit}`;
