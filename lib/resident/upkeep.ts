import type postgres from "postgres";
import { StringCounter } from "./string-counter.ts";
import { chooseVocabulary } from "./vocabulary.ts";

/** Blocks whose names are held in memory at once: 32 of some 8,192 names are about 10 MB. */
const blocksPerPiece = 32;

/** Names from which the frequent strings are chosen: half a minute of one core at most, 100 MB. */
const sampleNames = 65_536;
/** Below so many matches the trigram index is as quick as a profile (10 ms). */
const frequentFrom = 2_000;
/** So few names of the sample tell nothing. */
const leastOfSample = 8;
/** Of which 10 million residents have profiles of some 200 MB: the least frequent stands in some 2,800 of their names. */
const mostFrequentTerms = 32_000;

/** Changes that are folded by one statement. */
export const foldedAtOnce = 50_000;

/** Folds noted changes into the blocks' counts. @returns how many; there may be more. */
export const foldChanges = async (sql: postgres.Sql): Promise<number> => {
  const [row] = await sql<{ folded: number }[]>`select resident.fold_changes(${foldedAtOnce}) as folded`;
  return row?.folded ?? 0;
};

const LOCK_NOT_AVAILABLE = "55P03";

/**
 * Splits the biggest block, if it is too big.
 *
 * @returns blocks that were added; 0 where none is too big, or where writers did not make way within 3 s.
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

/** Merges new names into the trigram index. @returns pages that waited; at most 512, so that searches stay quick. */
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
  if (!vocabulary) throw new Error("there is no vocabulary");
  return vocabulary;
};

/** JSON as text: a parameter of type json would be encoded a second time by the driver. */
const toJson = (value: unknown): string => JSON.stringify(value);

/**
 * Chooses anew which longer strings profiles count, where the number of residents is another one by a quarter.
 *
 * @returns how many there are, or undefined where the old ones stay.
 */
export const refreshVocabulary = async (sql: postgres.Sql): Promise<number | undefined> => {
  const { chosenFor, rowCount } = await readVocabulary(sql);
  if (Math.abs(rowCount - chosenFor) * 4 <= chosenFor) return undefined;
  const percentage = Math.min(100, (100 * sampleNames) / Math.max(rowCount, 1));
  const [sample] = await sql<{ names: string[] }[]>`select resident.sample_names(${percentage}) as names`;
  const names = sample?.names ?? [];
  const minimum = Math.max(leastOfSample, (frequentFrom * names.length) / Math.max(rowCount, 1));
  const terms = chooseVocabulary(names, minimum, mostFrequentTerms);
  await sql`select resident.store_vocabulary(${toJson(terms)}::text::json, ${rowCount})`;
  return terms.length;
};

/**
 * Makes the profiles of some blocks that have none or an old one, of those that nobody writes to now.
 *
 * @returns how many blocks; 0 where there are none.
 */
export const profileBlocks = async (sql: postgres.Sql): Promise<number> => {
  const stale = await sql<{ id: number }[]>`
    select block_id as id from resident.list_stale_blocks(${blocksPerPiece})`;
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
