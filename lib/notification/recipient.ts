import type postgres from "postgres";
import { formatRecord } from "#lib/import/csv.ts";
import { findBulkName, nameOutcome, type Outcome } from "./run.ts";

/** The scope in which a recipient is notified once: one run of a job, all its runs, or a bulk run. */
export interface DedupeScope {
  readonly job: string;
  /** Scheduled time of the run, or `-infinity` for all runs. */
  readonly at: string;
}

/** What became of a recipient. */
export interface RecipientOutcome {
  readonly key: string;
  readonly outcome: Outcome;
  /** Contains no personal data. */
  readonly reason?: string | null | undefined;
  /** Id in the outbox. */
  readonly messageId?: string | undefined;
  /** Of a bulk run, the line of the file. */
  readonly line?: number | undefined;
  /** The start of the digest of that file. */
  readonly file?: string | undefined;
  /** The number on that line, masked. */
  readonly masked?: string | undefined;
  /** When the message is to be sent, ISO 8601 with zone; undefined for now. */
  readonly sendAt?: string | undefined;
}

/** Finds the outcomes of recipients by their keys; of a bulk run only `accepted`. */
export const listOutcomes = async (
  sql: postgres.Sql,
  { job, at }: DedupeScope,
  keys: readonly string[],
): Promise<Map<string, RecipientOutcome>> => {
  const name = findBulkName(job);
  const wanted = sql`array(select jsonb_array_elements_text(${JSON.stringify(keys)}::text::jsonb))`;
  const rows = await (name === undefined
    ? sql<RecipientOutcome[]>`
        select dedupe_key as key, outcome, reason from notification.recipient
        where job = ${job} and occasion = ${at}::text::timestamptz and dedupe_key = any (${wanted})`
    : sql<RecipientOutcome[]>`
        select key, 'accepted' as outcome, null as reason from notification.list_sent_before(${name}, ${wanted}) key`);
  return new Map(rows.map((row) => [row.key, row]));
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

/** Stores the outcomes of recipients and the counts of the run, in one transaction. */
export const storeOutcomes = async (
  sql: postgres.Sql,
  { job, at }: DedupeScope,
  run: string,
  outcomes: readonly RecipientOutcome[],
): Promise<void> => {
  if (outcomes.length === 0) return;
  const json = sql`${JSON.stringify(outcomes)}::text::jsonb`;
  await (findBulkName(job) === undefined
    ? sql`select notification.store_outcomes(${job}, ${at}::text::timestamptz, ${run}, ${json})`
    : sql`select notification.store_bulk(${run}, ${json})`);
};

/** Updates, once a day, when a job's recipients were last in the audience: after a month they are deleted. */
export const markSeen = async (
  sql: postgres.Sql,
  { job, at }: DedupeScope,
  keys: readonly string[],
): Promise<void> => {
  if (keys.length === 0) return;
  await sql`
    update notification.recipient set seen_at = now()
    where job = ${job} and occasion = ${at}::text::timestamptz and seen_at < now() - interval '1 day'
      and dedupe_key in (select jsonb_array_elements_text(${JSON.stringify(keys)}::text::jsonb))`;
};

/** Lists the recipients that a run did not reach, with the reason. */
export const listMissed = (sql: postgres.Sql, run: string, limit: number) => sql<RecipientOutcome[]>`
  select dedupe_key as key, outcome, reason from notification.recipient
  where run_id = ${run} and outcome in ('refused', 'expired') order by line, dedupe_key limit ${limit}`;

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
