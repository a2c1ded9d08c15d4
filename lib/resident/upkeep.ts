import type postgres from "postgres";
import { chooseFrequentSubstrings, StringCounter } from "./frequent-substrings.ts";

/** Blocks per batch: the names of 32 blocks of about 8,192 names take about 10 MB of memory. */
const blocksPerBatch = 32;

/** Names sampled to choose the frequent strings: at most 30 s of one core and 100 MB. */
const sampleSize = 65_536;
/** Below this number of matches the trigram index is as fast as the counts (10 ms). */
const minFrequency = 2_000;
/** Fewer occurrences in the sample are not significant. */
const minSampleFrequency = 8;
/** The counts for 10 million residents then take about 200 MB; the rarest term occurs in about 2,800 names. */
const maxTerms = 32_000;

/** Maximum changes applied by one statement. */
export const applyBatchSize = 50_000;

/** Applies pending changes to the block counts. @returns their number; a full batch means that there may be more. */
export const applyChanges = async (sql: postgres.Sql): Promise<number> => {
  const [row] = await sql<{ applied: number }[]>`select resident.apply_changes(${applyBatchSize}) as applied`;
  return row?.applied ?? 0;
};

export const foldAllChanges = async (sql: postgres.Sql): Promise<void> => {
  while ((await applyChanges(sql)) === applyBatchSize);
};

/** Brings all counts up to date; for a million changed residents that takes a minute. */
export const keepUp = async (sql: postgres.Sql): Promise<void> => {
  await foldAllChanges(sql);
  while ((await splitBlock(sql)) > 0);
  await refreshFrequentSubstrings(sql);
  while ((await countSubstrings(sql)) > 0);
};

export const countChanges = async (sql: postgres.Sql): Promise<number> => {
  const [row] = await sql<{ pending: number }[]>`
    select pending_changes::int as pending from resident.read_status()`;
  return row?.pending ?? 0;
};

const LOCK_NOT_AVAILABLE = "55P03";

/**
 * Splits the largest block if it is too large.
 *
 * @returns the number of added blocks; 0 if no block is too large, or if writers held locks for more than 3 s.
 */
export const splitBlock = async (sql: postgres.Sql): Promise<number> => {
  try {
    const [row] = await sql<{ added: number }[]>`select resident.split_block() as added`;
    return row?.added ?? 0;
  } catch (error) {
    if ((error as { code?: string }).code === LOCK_NOT_AVAILABLE) return 0;
    throw error;
  }
};

/** Merges new names into the trigram index. @returns merged pages: at most 512, so that searches stay fast. */
export const mergeTrigrams = async (sql: postgres.Sql): Promise<number> => {
  const [row] = await sql<{ pages: number }[]>`select resident.merge_trigrams()::int as pages`;
  return row?.pages ?? 0;
};

interface FrequentSubstrings {
  generation: number;
  chosenFor: number;
  rowCount: number;
  terms: string[];
}

const readFrequentSubstrings = async (sql: postgres.Sql): Promise<FrequentSubstrings> => {
  const [chosen] = await sql<FrequentSubstrings[]>`
    select generation, chosen_for::float8 as "chosenFor", row_count::float8 as "rowCount", terms
    from resident.read_frequent_substrings()`;
  if (!chosen) throw new Error("no frequent substrings are stored");
  return chosen;
};

/** Encodes JSON as text, because the driver would encode a parameter of type json again. */
const toJson = (value: unknown): string => JSON.stringify(value);

/**
 * Chooses which strings of three or more letters are counted, if the number of residents has changed by more than
 * a quarter since the last choice.
 *
 * @returns the number of strings, or undefined if they are unchanged.
 */
export const refreshFrequentSubstrings = async (sql: postgres.Sql): Promise<number | undefined> => {
  const { chosenFor, rowCount } = await readFrequentSubstrings(sql);
  if (Math.abs(rowCount - chosenFor) * 4 <= chosenFor) return undefined;
  const percentage = Math.min(100, (100 * sampleSize) / Math.max(rowCount, 1));
  const [sample] = await sql<{ names: string[] }[]>`select resident.sample_names(${percentage}) as names`;
  const names = sample?.names ?? [];
  const minimum = Math.max(minSampleFrequency, (minFrequency * names.length) / Math.max(rowCount, 1));
  const terms = chooseFrequentSubstrings(names, minimum, maxTerms);
  await sql`select resident.store_frequent_substrings(${toJson(terms)}::text::json, ${rowCount})`;
  return terms.length;
};

/**
 * Counts the substrings of a batch of blocks. Skips blocks that are being written to.
 *
 * @returns the number of blocks.
 */
export const countSubstrings = async (sql: postgres.Sql): Promise<number> => {
  const stale = await sql<{ id: number }[]>`
    select block_id as id from resident.list_stale_blocks(${blocksPerBatch})`;
  if (stale.length === 0) return 0;
  const { generation, terms } = await readFrequentSubstrings(sql);
  const counter = new StringCounter(terms);
  const blocks: [number, number][] = [];
  const counts = new Map<string, number[]>();
  for (const { id } of stale) {
    const [block] = await sql<{ version: string; names: string[] }[]>`
      select version::text, names from resident.read_names(${id})`;
    if (!block) continue;
    for (const [term, count] of counter.count(block.names)) {
      const before = counts.get(term) ?? [];
      while (before.length < blocks.length) before.push(0);
      before.push(count);
      counts.set(term, before);
    }
    blocks.push([id, Number(block.version)]);
  }
  if (blocks.length === 0) return 0;
  await sql`
    select resident.store_substring_counts(
      ${toJson(blocks)}::text::json, ${generation}, ${toJson(Object.fromEntries(counts))}::text::json)`;
  return blocks.length;
};
