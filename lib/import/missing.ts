import type postgres from "postgres";
import type { Survey } from "./survey.ts";
import type { ImportTable } from "./table.ts";

/** What a file lacks that is to be the whole of its source. */
export interface Missing {
  /** Keys of stored rows that no row of the file has, in order. */
  readonly keys: readonly string[];
  /** Rows of the file without a readable key: each could be any of the missing. */
  readonly unreadable: number;
  /** Whether these keys were marked as left. */
  readonly areMarked: boolean;
}

/** Holds back writers of these rows no longer than a batch takes. */
const keysPerBatch = 1_000;

/**
 * Finds the stored rows that a whole file lacks, and marks them if they are as many as somebody has confirmed.
 *
 * @param sql a single connection (`max: 1`) of the role `municipal_importer`.
 * @param confirmed how many are known to have left the source; undefined marks nobody.
 */
export const findMissing = async (
  sql: postgres.Sql,
  { table, key, whole }: ImportTable,
  { hasKey, unreadable }: Survey,
  confirmed: number | undefined,
): Promise<Missing> => {
  const keys: string[] = [];
  const stored = sql.unsafe<{ key: string }[]>(`select ${key}::text as key from ${table}`);
  for await (const rows of stored.cursor(10_000))
    for (const row of rows) if (!hasKey(row.key)) keys.push(row.key);
  keys.sort();
  const areMarked = whole !== undefined && unreadable === 0 && keys.length > 0 && keys.length === confirmed;
  if (areMarked)
    for (let first = 0; first < keys.length; first += keysPerBatch)
      await whole.markLeft(sql, keys.slice(first, first + keysPerBatch));
  return { keys, unreadable, areMarked };
};
