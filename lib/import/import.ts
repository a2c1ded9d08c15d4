import type { Readable } from "node:stream";
import type postgres from "postgres";
import { openImport } from "./file.ts";
import { Lane } from "./lane.ts";
import { holdSession, type LoadCounts } from "./load.ts";
import { findMissing, type Missing } from "./missing.ts";
import { surveyFile } from "./survey.ts";
import type { ImportTable, Rejection } from "./table.ts";

interface ImportCounts extends LoadCounts {
  /** Rows that are not stored because another row has the same key. */
  repeated: number;
  rejected: number;
}

export interface ImportResult extends ImportCounts {
  /** Undefined unless the file is complete. */
  readonly missing: Missing | undefined;
}

export interface ImportRules {
  /** Stores the last of the rows with one key; without, they are rejected if their values differ. */
  readonly lastWins?: boolean;
  /** Counts what would be stored, and stores nothing. */
  readonly isTrial?: boolean;
  /** Whether the file is the whole of its source, so that a stored row without one in the file has left. */
  readonly isComplete?: boolean;
  /** How many have left, as somebody has confirmed; without, nobody is marked. */
  readonly left?: number;
}

export interface ImportObserver {
  /** Called once, before the first row. */
  onHeaders(headers: readonly string[], ignored: readonly string[]): void;
  onRejections(rejections: readonly Rejection[]): void;
  /** Called after each block. @param storedLine line up to which every valid row is stored. */
  onProgress(bytesRead: number, storedLine: number, counts: ImportCounts): void;
}

const sumOf = (lanes: readonly Lane[], repeated: number, rejected: number): ImportCounts => {
  const sum = (count: keyof LoadCounts) => lanes.reduce((total, lane) => total + lane.counts[count], 0);
  return {
    inserted: sum("inserted"),
    updated: sum("updated"),
    unchanged: sum("unchanged"),
    blank: sum("blank"),
    repeated,
    rejected,
  };
};

/** Makes blank cells clear what is stored: returns the table for these connections. */
export const clearWithBlanks = async (
  connections: readonly postgres.Sql[],
  table: ImportTable,
): Promise<ImportTable> => {
  // restricted residents are updated by a trigger, which cannot tell a blank cell from a new row without a value
  for (const sql of connections) {
    holdSession(sql);
    await sql`select set_config('resident.blank_clears', 'on', false)`;
  }
  return {
    ...table,
    columns: table.columns.map(({ whenAbsent, ...column }) =>
      whenAbsent === undefined || column.type !== "text"
        ? { ...column, ...(whenAbsent && { whenAbsent }) }
        : column,
    ),
  };
};

/**
 * Imports a CSV file: valid rows are stored in batches while the next ones are read, rejected rows go to the observer.
 * The file is read twice, because a row is stored only if no other has its key. After an interruption, importing the same
 * file again stores the remaining rows and leaves the stored ones unchanged.
 *
 * @param connections single connections (`max: 1`) of the role `municipal_importer`; PostgreSQL uses one core for each.
 * @param open opens the file.
 * @throws HeaderError if the file cannot be imported at all; nothing is stored then.
 */
export const importCsv = async (
  connections: readonly postgres.Sql[],
  table: ImportTable,
  open: () => Readable,
  observer: ImportObserver,
  { lastWins = false, isTrial = false, isComplete = false, left }: ImportRules = {},
): Promise<ImportResult> => {
  const survey = await surveyFile(open(), table, lastWins);
  const { skipped, conflicts } = survey;
  const keyHeader = table.columns.find(({ column }) => column === table.key)?.header;
  const { headers, ignored, blocks } = await openImport(open(), table, (row) => {
    const other = conflicts.get(row.line);
    return other === undefined ? undefined : `${keyHeader} is also in line ${other}, with other values`;
  });
  observer.onHeaders(headers, ignored);
  const lanes = connections.map((sql) => new Lane(sql, table, isTrial ? "rollback" : "commit"));
  let [line, bytes, rejected] = [1, 0, 0];
  const sum = () => sumOf(lanes, skipped.size, rejected);
  let missing: Missing | undefined;
  const report = () =>
    observer.onProgress(bytes, Math.min(line, ...lanes.map(({ unstoredLine }) => unstoredLine - 1)), sum());
  try {
    for await (const { rows, rejections, bytesRead } of blocks) {
      bytes = bytesRead;
      rejected += rejections.length;
      if (rejections.length > 0) observer.onRejections(rejections);
      for (const row of rows) {
        if (skipped.has(row.line)) continue;
        const lane = lanes[row.line % lanes.length];
        lane?.add(row);
        if (lane?.isFull) await lane.submit();
      }
      line = rows.at(-1)?.line ?? line;
      report();
    }
    for (const lane of lanes) await lane.submit();
    for (const lane of lanes) await lane.settle();
    const [sql] = connections;
    if (sql && isComplete) missing = await findMissing(sql, table, survey, isTrial ? undefined : left);
    if (sql && !isTrial) await table.afterwards?.(sql);
  } finally {
    // wait for pending statements: the caller closes the connections
    await Promise.allSettled(lanes.map((lane) => lane.settle()));
    report();
  }
  return { ...sum(), missing };
};
