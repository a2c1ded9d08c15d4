import { countSubstrings, refreshFrequentSubstrings } from "#lib/resident/upkeep.ts";
import { fillResidents, withResidentDatabase } from "./resident-database.ts";
import { measureReaders } from "./resident-readers.ts";
import { cases, measureCase, measureGrowth } from "./resident-reads.ts";
import { measureShown } from "./resident-shown.ts";
import { measureWriters } from "./resident-writes.ts";
import { printTable, type Result } from "./result.ts";
import { timed } from "./timing.ts";

/** How much is measured. */
export interface Effort {
  /** How often our query runs; the plain query runs as often as the time allows. */
  readonly samples: number;
  readonly plainMs: number;
  /** Of many readers at once. */
  readonly readMs: number;
  readonly readRounds: number;
  readonly writeMs: number;
  readonly writeRounds: number;
}

const full: Effort = {
  ...{ samples: 200, plainMs: 6_000 },
  ...{ readMs: 2_000, readRounds: 3 },
  ...{ writeMs: 2_000, writeRounds: 9 },
};

/**
 * Measures list and search as the functions call them against count(*) and OFFSET on the same rows, in turn in
 * one run, on one connection; what storing who was shown costs them; the same pages beside a second database; many readers at once, alone and with writers;
 * and what the counting costs writers.
 *
 * @param options `rows`: residents; `beside`: those of the second database, from a million on.
 */
export const benchResidents = async ({
  rows,
  beside,
  effort = full,
}: {
  rows: number;
  beside?: number | undefined;
  effort?: Effort;
}): Promise<Result> => {
  const onStep = (step: string) => console.error(`${step} …`);
  return withResidentDatabase(async (database) => {
    const sql = database.connect();
    await fillResidents(sql, rows, onStep);
    const growth =
      beside &&
      (await withResidentDatabase(async (other) => {
        const few = other.connect();
        await fillResidents(few, beside, onStep);
        return measureGrowth(few, sql, effort);
      }));
    if (growth) printTable(growth);
    onStep("substring counts");
    const profileSeconds = await timed(async () => {
      await refreshFrequentSubstrings(sql);
      while ((await countSubstrings(sql)) > 0);
    });
    await sql`vacuum (analyze) resident.substring_count`;
    onStep("reads");
    const reads = [];
    for (const one of cases) reads.push(await measureCase(sql, one, effort));
    printTable(reads);
    const shown = await measureShown(sql, effort);
    printTable(shown);
    onStep("readers and writers");
    const readers = await measureReaders(database, effort);
    printTable(readers);
    const writes = await measureWriters(database, effort);
    printTable(writes);
    const figures = {
      rows,
      profileSeconds: Math.round(profileSeconds / 1_000),
      reads,
      shown,
      ...(growth && { growthFrom: beside, growth }),
      readers,
      writes,
    };
    return { bench: `residents-${rows}`, figures };
  });
};
