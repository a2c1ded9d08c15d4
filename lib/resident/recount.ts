import type postgres from "postgres";
import { StringCounter } from "./frequent-substrings.ts";

/** A block whose stored counts do not match its rows. Contains no names, because it is logged. */
export interface Miscount {
  readonly blockId: number;
  /** The rows, or a number of substrings. */
  readonly of: "rows" | "strings";
  readonly counted: number;
  readonly found: number;
}

/** Recounts random blocks. @param limit undefined for all blocks. @returns the wrong ones. */
export const recountBlocks = async (sql: postgres.Sql, limit?: number): Promise<Miscount[]> => {
  const rows = await sql<{ id: number; counted: number; found: number }[]>`
    select block_id as id, counted, found from resident.recount(${limit ?? null})`;
  return rows.map(({ id, counted, found }) => ({ blockId: id, of: "rows", counted, found }));
};

/** Lists triggers that are not ENABLE ALWAYS: a data-only restore leaves them so, and counts go wrong. */
export const listBypassableTriggers = async (sql: postgres.Sql): Promise<string[]> =>
  (await sql<{ name: string }[]>`select name from resident.list_bypassable_triggers()`).map(
    ({ name }) => name,
  );

interface SubstringCounts {
  readonly names: string[];
  readonly terms: string[];
  readonly counts: Record<string, number>;
}

/** Counts the substrings of random blocks again. @returns the wrong ones. */
export const recountSubstrings = async (sql: postgres.Sql, limit: number): Promise<Miscount[]> => {
  const blocks = await sql<{ id: number }[]>`select block_id as id from resident.choose_blocks(${limit})`;
  const wrong: Miscount[] = [];
  for (const { id } of blocks) {
    const [stored] = await sql<
      SubstringCounts[]
    >`select names, terms, counts from resident.read_substring_counts(${id})`;
    if (!stored) continue;
    const fresh = new StringCounter(stored.terms).count(stored.names);
    const counts = new Map(Object.entries(stored.counts));
    const right = [...fresh].filter(([term, count]) => counts.get(term) === count).length;
    if (right !== fresh.size || right !== counts.size)
      wrong.push({ blockId: id, of: "strings", counted: counts.size, found: right });
  }
  return wrong;
};
