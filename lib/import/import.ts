import type { Readable } from "node:stream";
import { crc32 } from "node:zlib";
import type postgres from "postgres";
import { openImport } from "./file.ts";
import { Lane } from "./lane.ts";
import type { LoadCounts } from "./load.ts";
import { type ImportTable, keyReader, type Rejection, type Row } from "./table.ts";

export interface ImportCounts extends LoadCounts {
  rejected: number;
}

export interface ImportObserver {
  /** Called once, before the first row. */
  onHeaders(headers: readonly string[], ignored: readonly string[]): void;
  onRejections(rejections: readonly Rejection[]): void;
  /** Called after each block. @param storedLine line up to which every valid row is stored. */
  onProgress(bytesRead: number, storedLine: number, counts: ImportCounts): void;
}

const sumOf = (lanes: readonly Lane[], rejected: number): ImportCounts => {
  const sum = (count: keyof LoadCounts) => lanes.reduce((total, lane) => total + lane.counts[count], 0);
  return {
    inserted: sum("inserted"),
    updated: sum("updated"),
    unchanged: sum("unchanged"),
    repeated: sum("repeated"),
    rejected,
  };
};

/**
 * Imports a CSV file in constant memory: valid rows are stored in batches while the next ones are read, rejected
 * rows go to the observer. After an interruption, importing the same file again stores the remaining rows and
 * leaves the stored ones unchanged.
 *
 * @param connections single connections (`max: 1`) of the role `municipal_importer`; PostgreSQL uses one core for
 * each. All rows with the same key use the same connection, so that the last one wins.
 * @throws HeaderError if the first line does not name the table's columns; nothing is stored then.
 */
export const importCsv = async (
  connections: readonly postgres.Sql[],
  table: ImportTable,
  input: Readable,
  observer: ImportObserver,
): Promise<ImportCounts> => {
  const { headers, ignored, blocks } = await openImport(input, table);
  observer.onHeaders(headers, ignored);
  const lanes = connections.map((sql) => new Lane(sql, table));
  const readKey = keyReader(table);
  const add = async (row: Row) => {
    const lane = lanes[crc32(readKey(row)) % lanes.length];
    lane?.add(row);
    if (lane?.isFull) await lane.submit();
  };
  let [line, bytes, rejected] = [1, 0, 0];
  const report = () =>
    observer.onProgress(
      bytes,
      Math.min(line, ...lanes.map(({ unstoredLine }) => unstoredLine - 1)),
      sumOf(lanes, rejected),
    );
  try {
    for await (const { rows, rejections, bytesRead } of blocks) {
      bytes = bytesRead;
      rejected += rejections.length;
      if (rejections.length > 0) observer.onRejections(rejections);
      for (const row of rows) await add(row);
      line = rows.at(-1)?.line ?? line;
      report();
    }
    for (const lane of lanes) await lane.submit();
    for (const lane of lanes) await lane.settle();
    if (connections[0]) await table.afterwards?.(connections[0]);
  } finally {
    // wait for pending statements: the caller closes the connections
    await Promise.allSettled(lanes.map((lane) => lane.settle()));
    report();
  }
  return sumOf(lanes, rejected);
};
