import type postgres from "postgres";
import type { ScheduleInput } from "./event.ts";

export const outcomes = ["accepted", "opted_out", "refused", "expired"] as const;
export type Outcome = (typeof outcomes)[number];

/** The word for an outcome, which is that of the console. */
export const nameOutcome = (outcome: string): string =>
  outcome === "refused" ? "rejected" : outcome.replace("_", " ");

/** One run of a job, or a bulk run, with its recipients by outcome. */
export interface Run extends Readonly<Record<Outcome, number>> {
  readonly id: string;
  readonly job: string;
  /** Of a bulk run. */
  readonly template: string | null;
  /** Of a bulk run, how many recipients its file has. */
  readonly lines: number | null;
  readonly scheduledAt: Date;
  /** `cancelled`: a bulk run that an operator has ended. */
  readonly state: "running" | "done" | "failed" | "cancelled";
  readonly reason: string | null;
  readonly startedAt: Date;
  readonly changedAt: Date;
}

export const runColumns = (sql: postgres.ISql) => sql`
  id, job, template, lines, scheduled_at as "scheduledAt", state, reason, accepted, opted_out, refused, expired,
  started_at as "startedAt", changed_at as "changedAt"`;

/** Starts a run, or resumes an unfinished one. @returns its id */
export const openRun = async (sql: postgres.Sql, { job, scheduled_time }: ScheduleInput): Promise<string> => {
  const [row] = await sql<{ id: string }[]>`
    insert into notification.run (job, scheduled_at) values (${job}, ${scheduled_time})
    on conflict (job, scheduled_at) do update set state = 'running', reason = null, changed_at = now()
    returning id`;
  if (!row) throw new Error("the run was not stored");
  return row.id;
};

/** Ends a run. @param reason of the failure, without personal data; undefined for success. */
export const closeRun = async (sql: postgres.Sql, id: string, reason?: string): Promise<Run> => {
  await sql`select notification.count_recipients(${id})`;
  const [row] = await sql<Run[]>`
    update notification.run
    set state = ${reason === undefined ? "done" : "failed"}, reason = ${reason ?? null}, changed_at = now()
    where id = ${id} returning ${runColumns(sql)}`;
  if (!row) throw new Error("the run no longer exists");
  return row;
};

/** Lists the last runs of a job, newest first. */
export const listRuns = (sql: postgres.Sql, job: string, limit: number) => sql<Run[]>`
  select ${runColumns(sql)} from notification.run where job = ${job} order by scheduled_at desc limit ${limit}`;

/** Counts a run's messages by their state in the outbox. */
export const countStates = (sql: postgres.Sql, run: string) => sql<{ state: string; count: number }[]>`
  select state, count from messaging.count_states(${run}) order by state`;
