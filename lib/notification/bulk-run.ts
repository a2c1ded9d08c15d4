import type postgres from "postgres";
import { formatRecord } from "#lib/import/csv.ts";
import { RunError } from "./dispatch.ts";
import { nameOutcome, type Outcome, type Run, runColumns } from "./run.ts";

/** The name of a bulk run among those of the jobs: nobody is notified twice under it. */
export const bulkJob = (name: string): string => `bulk:${name}`;

export const findBulkRun = async (sql: postgres.Sql, name: string): Promise<Run | undefined> => {
  const [run] = await sql<Run[]>`
    select ${runColumns(sql)} from notification.run where job = ${bulkJob(name)} and template is not null`;
  return run;
};

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
 * @param lines of the file. @returns its id
 * @throws RunError for a name that another template has used, and for a run that was cancelled.
 */
export const openBulkRun = async (
  sql: postgres.Sql,
  name: string,
  template: string,
  lines: number,
): Promise<string> => {
  const before = await findBulkRun(sql, name);
  if (before) requireUsable(before, name, template);
  const [run] = await sql<Pick<Run, "id" | "state">[]>`
    select id, state from notification.open_bulk(${name}, ${template}, ${lines})`;
  if (!run) throw new RunError(`the name ${name} is taken by a run with another template`);
  requireOpen(run.state);
  return run.id;
};

/** Ends a bulk run. @param reason of the failure, without personal data; undefined for success. */
export const closeBulkRun = async (sql: postgres.Sql, id: string, reason?: string): Promise<Run> => {
  await sql`select notification.close_bulk(${id}, ${reason ?? null})`;
  const [run] = await sql<Run[]>`select ${runColumns(sql)} from notification.run where id = ${id}`;
  if (!run) throw new Error("the run no longer exists");
  return run;
};

/** Lists those of the keys that a bulk run has a message for. */
export const listSentBefore = async (
  sql: postgres.Sql,
  name: string,
  keys: readonly string[],
): Promise<Set<string>> => {
  const rows = await sql<{ key: string }[]>`
    select key from notification.list_sent_before(${name}, string_to_array(${keys.join()}, ',')) key`;
  return new Set(rows.map(({ key }) => key));
};

/** What became of a line. Its reason contains no personal data. */
export interface LineResult {
  readonly key: string;
  readonly outcome: Outcome;
  readonly reason?: string | undefined;
  /** Id in the outbox. */
  readonly messageId?: string | undefined;
  readonly line: number;
  /** The start of the digest of its file. */
  readonly file: string;
  /** Its number, masked. */
  readonly masked: string;
  /** When its message is due. ISO 8601 with zone. */
  readonly dueAt?: string | undefined;
}

/** Stores what became of lines, and counts them for their run. */
export const storeLines = async (
  sql: postgres.Sql,
  run: string,
  results: readonly LineResult[],
): Promise<void> => {
  if (results.length > 0)
    await sql`select notification.store_bulk(${run}, ${JSON.stringify(results)}::text::jsonb)`;
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

/** What became of a line of a bulk run's file. */
export interface ReportLine {
  readonly line: number;
  /** The start of the digest of the file: a run that was continued may have several. */
  readonly file: string;
  /** The number, masked. */
  readonly phone: string;
  /** Of its message, or why it has none. */
  readonly state: string;
  readonly reason: string | null;
  /** ISO 8601 with zone. */
  readonly at: string;
}

/** Lists what became of each line of a bulk run. */
export const reportBulkRun = async (sql: postgres.Sql, id: string): Promise<ReportLine[]> => {
  const rows = await sql<(Omit<ReportLine, "at"> & { readonly at: Date })[]>`
    select line, file, phone, state, reason, at from notification.report_bulk(${id})`;
  return rows.map((row) => ({ ...row, state: nameOutcome(row.state), at: row.at.toISOString() }));
};

/** Makes text of what a spreadsheet would calculate. */
const asText = (cell: string): string => (/^[\s]*[=+\-@]/.test(cell) ? `'${cell}` : cell);

/** Formats a report as CSV, with a line for the names of its columns. */
export const formatReport = (lines: readonly ReportLine[]): string => {
  const records = lines.map(({ line, file, phone, state, reason, at }) => [
    ...[String(line), file, phone, state, reason ?? "", at],
  ]);
  return [["line", "file", "phone", "state", "reason", "time"], ...records]
    .map((cells) => formatRecord(cells.map(asText)))
    .join("");
};
