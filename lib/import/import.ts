import type { Readable } from "node:stream";
import { crc32 } from "node:zlib";
import type postgres from "postgres";
import { openImport } from "./file.ts";
import { Lane } from "./lane.ts";
import type { LoadCounts } from "./load.ts";
import { type ImportTable, keyReader, type Refusal, type Row } from "./table.ts";

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

const sumOf = (lanes: readonly Lane[], refused: number): ImportCounts => {
  const sum = (count: keyof LoadCounts) => lanes.reduce((total, lane) => total + lane.counts[count], 0);
  return {
    inserted: sum("inserted"),
    updated: sum("updated"),
    unchanged: sum("unchanged"),
    repeated: sum("repeated"),
    refused,
  };
};

/**
 * Imports a CSV file: good rows are stored in batches, while the next are read; bad ones go to the observer.
 * Memory stays the same for any size of file. Running it again after a break stores what is missing and
 * changes nothing else.
 *
 * @param connections each one connection (`max: 1`) of the role `municipal_importer`; PostgreSQL works for each
 * on a core of its own. All rows with one key go over the same, so that the last of them counts.
 * @throws HeaderError when the first line does not name the table's columns; nothing is stored then.
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
    if (lane?.isFull) await lane.handOver();
  };
  let [line, bytes, refused] = [1, 0, 0];
  const report = () =>
    observer.onProgress(
      bytes,
      Math.min(line, ...lanes.map(({ unstoredLine }) => unstoredLine - 1)),
      sumOf(lanes, refused),
    );
  try {
    for await (const { rows, refusals, bytesRead } of blocks) {
      bytes = bytesRead;
      refused += refusals.length;
      if (refusals.length > 0) observer.onRefusals(refusals);
      for (const row of rows) await add(row);
      line = rows.at(-1)?.line ?? line;
      report();
    }
    for (const lane of lanes) await lane.handOver();
    for (const lane of lanes) await lane.settle();
  } finally {
    // nothing may be under way any more when the connections are ended
    await Promise.allSettled(lanes.map((lane) => lane.settle()));
    report();
  }
  return sumOf(lanes, refused);
};
