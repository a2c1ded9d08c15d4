import type postgres from "postgres";
import { chooseVocabulary, StringCounter } from "./vocabulary.ts";

/** Blocks per batch: the names of 32 blocks of about 8,192 names take about 10 MB of memory. */
const blocksPerBatch = 32;

/** Names sampled to choose the frequent strings: at most 30 s of one core and 100 MB. */
const sampleSize = 65_536;
/** Below this number of matches the trigram index is as fast as a profile (10 ms). */
const minFrequency = 2_000;
/** Fewer occurrences in the sample are not significant. */
const minSampleFrequency = 8;
/** Profiles of 10 million residents then take about 200 MB; the rarest term occurs in about 2,800 names. */
const maxTerms = 32_000;

/** Maximum changes folded by one statement. */
export const foldBatchSize = 50_000;

/** Folds pending changes into the block counts. @returns their number; a full batch means that there may be more. */
export const foldChanges = async (sql: postgres.Sql): Promise<number> => {
  const [row] = await sql<{ folded: number }[]>`select resident.fold_changes(${foldBatchSize}) as folded`;
  return row?.folded ?? 0;
};

export const foldAllChanges = async (sql: postgres.Sql): Promise<void> => {
  while ((await foldChanges(sql)) === foldBatchSize);
};

/** Brings the counts and the search profiles up to date; for a million changed residents that takes a minute. */
export const keepUp = async (sql: postgres.Sql): Promise<void> => {
  await foldAllChanges(sql);
  while ((await splitBlock(sql)) > 0);
  await refreshVocabulary(sql);
  while ((await profileBlocks(sql)) > 0);
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

interface Vocabulary {
  generation: number;
  chosenFor: number;
  rowCount: number;
  terms: string[];
}

const readVocabulary = async (sql: postgres.Sql): Promise<Vocabulary> => {
  const [vocabulary] = await sql<Vocabulary[]>`
    select generation, chosen_for::float8 as "chosenFor", row_count::float8 as "rowCount", terms
    from resident.read_vocabulary()`;
  if (!vocabulary) throw new Error("no vocabulary is stored");
  return vocabulary;
};

/** Encodes JSON as text, because the driver would encode a parameter of type json again. */
const toJson = (value: unknown): string => JSON.stringify(value);

/**
 * Chooses which strings of three or more letters profiles count, if the number of residents has changed by more than
 * a quarter since the last choice.
 *
 * @returns the number of strings, or undefined if the vocabulary is unchanged.
 */
export const refreshVocabulary = async (sql: postgres.Sql): Promise<number | undefined> => {
  const { chosenFor, rowCount } = await readVocabulary(sql);
  if (Math.abs(rowCount - chosenFor) * 4 <= chosenFor) return undefined;
  const percentage = Math.min(100, (100 * sampleSize) / Math.max(rowCount, 1));
  const [sample] = await sql<{ names: string[] }[]>`select resident.sample_names(${percentage}) as names`;
  const names = sample?.names ?? [];
  const minimum = Math.max(minSampleFrequency, (minFrequency * names.length) / Math.max(rowCount, 1));
  const terms = chooseVocabulary(names, minimum, maxTerms);
  await sql`select resident.store_vocabulary(${toJson(terms)}::text::json, ${rowCount})`;
  return terms.length;
};

/**
 * Rebuilds missing and outdated profiles of a batch of blocks. Skips blocks that are being written to.
 *
 * @returns the number of blocks.
 */
export const profileBlocks = async (sql: postgres.Sql): Promise<number> => {
  const stale = await sql<{ id: number }[]>`
    select block_id as id from resident.list_stale_blocks(${blocksPerBatch})`;
  if (stale.length === 0) return 0;
  const { generation, terms } = await readVocabulary(sql);
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
    select resident.store_profiles(
      ${toJson(blocks)}::text::json, ${generation}, ${toJson(Object.fromEntries(counts))}::text::json)`;
  return blocks.length;
};
