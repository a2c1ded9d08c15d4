import type { Readable } from "node:stream";
import type postgres from "postgres";
import { openImport } from "./file.ts";
import { type LoadCounts, storeBatch } from "./load.ts";
import type { ImportTable, Refusal, Row } from "./table.ts";

export interface ImportCounts extends LoadCounts {
  refused: number;
}

export interface ImportObserver {
  /** Called once, before the first row. */
  onHeaders(headers: readonly string[], ignored: readonly string[]): void;
  onRefusals(refusals: readonly Refusal[]): void;
  /** Called for each block that was read. @param storedLine line up to which every good row is stored. */
  onProgress(bytesRead: number, storedLine: number, counts: ImportCounts): void;
}

const rowsPerBatch = 20_000;

/**
 * Imports a CSV file: good rows are stored in batches, bad ones go to the observer. Memory stays the same
 * for any size of file. Running it again after a break stores what is missing and changes nothing else.
 *
 * @param sql one connection of the role `municipal_importer`.
 * @throws HeaderError when the first line does not name the table's columns; nothing is stored then.
 */
export const importCsv = async (
  sql: postgres.Sql,
  table: ImportTable,
  input: Readable,
  observer: ImportObserver,
): Promise<ImportCounts> => {
  const counts: ImportCounts = { inserted: 0, updated: 0, unchanged: 0, repeated: 0, refused: 0 };
  const { headers, ignored, blocks } = await openImport(input, table);
  observer.onHeaders(headers, ignored);
  let batch: Row[] = [];
  let storedLine = 1;
  let bytes = 0;
  const store = async () => {
    const stored = await storeBatch(sql, table, batch);
    for (const count of ["inserted", "updated", "unchanged", "repeated"] as const)
      counts[count] += stored[count];
    storedLine = batch.at(-1)?.line ?? storedLine;
    batch = [];
  };
  for await (const { rows, refusals, bytesRead } of blocks) {
    bytes = bytesRead;
    counts.refused += refusals.length;
    if (refusals.length > 0) observer.onRefusals(refusals);
    batch.push(...rows);
    if (batch.length >= rowsPerBatch) await store();
    observer.onProgress(bytesRead, storedLine, counts);
  }
  if (batch.length > 0) await store();
  observer.onProgress(bytes, storedLine, counts);
  return counts;
};
