import type postgres from "postgres";
import { RunError } from "./dispatch.ts";
import type { DedupeScope } from "./recipient.ts";
import { type Run, runColumns } from "./run.ts";

const prefix = "bulk:";

/** The scope of a bulk run: nobody is notified twice under one name. */
export const bulkScope = (name: string): DedupeScope => ({ job: `${prefix}${name}`, at: "-infinity" });

export const bulkName = ({ job }: Pick<Run, "job">): string => job.slice(prefix.length);

export const findBulkRun = async (sql: postgres.Sql, name: string): Promise<Run | undefined> => {
  const [run] = await sql<Run[]>`
    select ${runColumns(sql)} from notification.run where job = ${bulkScope(name).job} and template is not null`;
  return run;
};

/** Lists the latest bulk runs, newest first. */
export const listBulkRuns = (sql: postgres.Sql, limit: number) => sql<Run[]>`
  select ${runColumns(sql)} from notification.run where template is not null
  order by scheduled_at desc limit ${limit}`;

/** @throws RunError if an operator has cancelled the run. */
const requireOpen = (state: Run["state"] | undefined): void => {
  if (state === "cancelled") throw new RunError("it was cancelled; those who wait for it get nothing");
};

/** @throws RunError for a name that another template has used, and for a run that was cancelled. */
export const requireUsable = (run: Pick<Run, "state" | "template">, name: string, template: string): void => {
  if (run.template !== template)
    throw new RunError(`the name ${name} is taken by a run with the template ${run.template}`);
  requireOpen(run.state);
};

/**
 * Starts a bulk run, or continues one. What it could not send before is no longer part of it: the file may be corrected.
 *
 * @returns its id
 * @throws RunError for a name that another template has used, and for a run that was cancelled.
 */
export const openBulkRun = async (sql: postgres.Sql, name: string, template: string): Promise<string> => {
  const before = await findBulkRun(sql, name);
  if (before) requireUsable(before, name, template);
  const [run] = await sql<Pick<Run, "id" | "state">[]>`
    insert into notification.run as known (job, scheduled_at, template)
    values (${bulkScope(name).job}, now(), ${template})
    on conflict (job) where template is not null do update
    set state = case known.state when 'cancelled' then known.state else 'running' end, reason = null, changed_at = now()
    where known.template = excluded.template
    returning id, state`;
  if (!run) throw new RunError(`the name ${name} is taken by a run with another template`);
  requireOpen(run.state);
  await sql`update notification.recipient set run_id = null where run_id = ${run.id} and outcome <> 'accepted'`;
  return run.id;
};

/** @throws RunError if the run was cancelled meanwhile. */
export const requireUncancelled = async (sql: postgres.Sql, id: string): Promise<void> => {
  const [run] = await sql<Pick<Run, "state">[]>`select state from notification.run where id = ${id}`;
  requireOpen(run?.state);
};

/** Finds those of the numbers that a run has a message for, however long ago. @returns message ids by number. */
export const findInRun = async (
  sql: postgres.Sql,
  id: string,
  phones: readonly string[],
): Promise<Map<string, string>> => {
  const rows = await sql<{ phone: string; id: string }[]>`
    select phone, id from messaging.find_in_run(${id}, string_to_array(${phones.join()}, ','))`;
  return new Map(rows.map((row) => [row.phone, row.id]));
};

/** What became of a line of the file. */
interface ReportLine {
  readonly line: number;
  /** The number, masked. */
  readonly phone: string;
  /** Of its message, or why it has none. */
  readonly state: string;
  readonly reason: string | null;
  readonly at: Date;
}

/** Lists what became of each line of a bulk run's file. */
export const reportBulkRun = (sql: postgres.Sql, id: string) => sql<ReportLine[]>`
  select r.line, r.masked as phone, coalesce(m.state, r.outcome) as state, coalesce(m.reason, r.reason) as reason,
    coalesce(m.changed_at, r.seen_at) as at
  from notification.recipient r left join messaging.list_run(${id}) m on m.id = r.message_id
  where r.run_id = ${id} order by r.line`;
