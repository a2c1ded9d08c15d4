import type postgres from "postgres";
import { formatRecord } from "#lib/import/csv.ts";
import { nameOutcome } from "./run.ts";

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
