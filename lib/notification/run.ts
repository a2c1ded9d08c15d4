import type postgres from "postgres";
import { ApiError } from "#lib/errors/api-error.ts";
import { AudienceError } from "./audience.ts";
import type { ScheduleInput } from "./event.ts";

export const outcomes = ["accepted", "opted_out", "refused", "expired"] as const;
export type Outcome = (typeof outcomes)[number];

/** The word for an outcome, which is that of the console. */
export const nameOutcome = (outcome: string): string =>
  outcome === "refused" ? "rejected" : outcome.replace("_", " ");

/** One run of a job, or a bulk run, with its recipients by outcome. */
export interface Run extends Readonly<Record<Outcome, number>> {
  readonly id: string;
  /** Of a bulk run, `bulk:` and its name. */
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

/** A run did not finish. The message contains no personal data. */
export class RunError extends Error {
  override readonly name = "RunError";
}

/** A bulk run's name among those of the jobs. */
export const bulkJob = (name: string): string => `bulk:${name}`;

/** @returns the name of a bulk run; undefined for a job. */
export const findBulkName = (job: string): string | undefined => /^bulk:(.*)$/.exec(job)?.[1];

export const runColumns = (sql: postgres.ISql) => sql`
  id, job, template, lines, scheduled_at as "scheduledAt", state, reason, accepted, opted_out, refused, expired,
  started_at as "startedAt", changed_at as "changedAt"`;

/** Starts a job's run, or resumes an unfinished one. @returns its id */
export const openRun = async (sql: postgres.Sql, { job, scheduled_time }: ScheduleInput): Promise<string> => {
  const [row] = await sql<{ id: string }[]>`
    insert into notification.run (job, scheduled_at) values (${job}, ${scheduled_time})
    on conflict (job, scheduled_at) do update set state = 'running', reason = null, changed_at = now()
    returning id`;
  if (!row) throw new Error("the run was not stored");
  return row.id;
};

export const findBulkRun = async (sql: postgres.Sql, name: string): Promise<Run | undefined> => {
  const [run] = await sql<Run[]>`
    select ${runColumns(sql)} from notification.run where job = ${bulkJob(name)} and template is not null`;
  return run;
};

/** @throws RunError for a name that another template has used, and for a run that an operator has cancelled. */
export const requireUsable = async (sql: postgres.Sql, name: string, template: string): Promise<void> => {
  const run = await findBulkRun(sql, name);
  if (run && run.template !== template)
    throw new RunError(`the name ${name} is taken by a run with the template ${run.template}`);
  if (run?.state === "cancelled") throw new RunError("it was cancelled; those who wait for it get nothing");
};

/**
 * Starts a bulk run, or continues one. What it could not send before is no longer part of it: the file may be corrected.
 *
 * @param lines of the file. @returns its id
 * @throws RunError for a name that another template has used, and for a run that was cancelled.
 */
export const openBulkRun = async (
  sql: postgres.Sql,
  name: string,
  template: string,
  lines: number,
): Promise<string> => {
  const [opened] = await sql<{ id: string | null }[]>`
    select notification.start_bulk(${name}, ${template}, ${lines}) as id`;
  if (opened?.id) return opened.id;
  await requireUsable(sql, name, template);
  throw new Error("the run was not stored");
};

/** Ends a run. @param reason of the failure, without personal data; undefined for success. */
export const closeRun = async (
  sql: postgres.Sql,
  { id, job }: Pick<Run, "id" | "job">,
  reason: string | null = null,
): Promise<Run> => {
  await (findBulkName(job) === undefined
    ? sql`select notification.close_run(${id}, ${reason})`
    : sql`select notification.close_bulk(${id}, ${reason})`);
  const [run] = await sql<Run[]>`select ${runColumns(sql)} from notification.run where id = ${id}`;
  if (!run) throw new Error("the run no longer exists");
  return run;
};

/** @returns why a run or a request failed, without personal data. */
export const explain = (error: unknown): string => {
  if (error instanceof RunError || error instanceof AudienceError) return error.message;
  if (error instanceof ApiError) return `the messenger did not accept the messages (${error.code})`;
  const { name = "unknown", code } = error as { name?: string; code?: string };
  return `failed with ${code ?? name}`;
};

/**
 * Does the work of a run and ends it.
 *
 * @throws RunError if the work failed; the stored run has the same message.
 */
export const finishRun = async (
  sql: postgres.Sql,
  run: Pick<Run, "id" | "job">,
  work: () => Promise<void>,
): Promise<Run> => {
  try {
    await work();
    return await closeRun(sql, run);
  } catch (error) {
    const reason = explain(error);
    await closeRun(sql, run, reason);
    // the cause of an AudienceError may quote data
    throw new RunError(reason, error instanceof AudienceError ? {} : { cause: error });
  }
};

/** Lists the last runs of a job, newest first. */
export const listRuns = (sql: postgres.Sql, job: string, limit: number) => sql<Run[]>`
  select ${runColumns(sql)} from notification.run where job = ${job} order by scheduled_at desc limit ${limit}`;

/** Counts a run's messages by their state in the outbox. */
export const countStates = (sql: postgres.Sql, run: string) => sql<{ state: string; count: number }[]>`
  select state, count from messaging.count_states(${run}) order by state`;
