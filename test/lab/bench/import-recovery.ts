import { residentSteps } from "#lib/maintenance/residents.ts";
import { runSteps } from "#lib/maintenance/step.ts";
import type { ResidentDatabase } from "./resident-database.ts";
import { ours } from "./resident-reads.ts";
import { median } from "./result.ts";
import { percentile, round, timed } from "./timing.ts";

const terms = { "list, first page": undefined, "two letters «an»": "an", "common name «siti»": "siti" };
/** A search is fast again when it takes at most so many times what it took before. */
const tolerance = 1.5;
/** So many in a row, so that one that happens to be fast does not count. */
const inARow = 5;
/** As long as a run of the function may take. */
const runMs = 4 * 60_000;

/**
 * Measures how long list and searches are slower after a load: one run of the upkeep starts at once, which otherwise comes within
 * five minutes.
 *
 * @param load writes many residents. @param samples of each read before the load.
 * @returns seconds until each read is fast again, and its slowest.
 */
export const measureRecovery = async (
  { connect }: ResidentDatabase,
  load: () => Promise<unknown>,
  samples: number,
) => {
  const [reader, upkeep] = [connect(), connect()];
  const read = (term: string | undefined) => timed(() => ours(reader, term, 1));
  const keepUp = async () => {
    for (let more = true; more; ) {
      const reports = await runSteps(upkeep, residentSteps, Date.now() + runMs, AbortSignal.timeout(runMs));
      const failed = reports.find(({ error }) => error !== undefined);
      if (failed) throw new Error(`${failed.step} failed`, { cause: failed.error });
      more = reports.some(({ finished }) => !finished);
    }
  };
  await keepUp();
  const before = new Map<string, number>();
  for (const [name, term] of Object.entries(terms)) {
    const times: number[] = [];
    while (times.length < samples) times.push(await read(term));
    before.set(name, median(times));
  }
  await load();
  const ended = performance.now();
  let working = true;
  const keptUp = timed(keepUp).finally(() => {
    working = false;
  });
  const after = new Map(Object.keys(terms).map((name): [string, { ms: number; at: number }[]] => [name, []]));
  // a round more when the upkeep has ended, so that each read has a time without it
  for (let rest = inARow; rest > 0; rest -= working ? 0 : 1)
    for (const [name, term] of Object.entries(terms))
      after.get(name)?.push({ ms: await read(term), at: performance.now() - ended });
  const seconds = round((await keptUp) / 1_000);
  return Object.keys(terms).map((name) => {
    const limit = (before.get(name) ?? 0) * tolerance;
    const reads = after.get(name) ?? [];
    const first = reads.findIndex((_, i) => reads.slice(i, i + inARow).every(({ ms }) => ms <= limit));
    const times = reads.map(({ ms }) => ms).toSorted((a, b) => a - b);
    return {
      read: name,
      "before p50 ms": round(before.get(name) ?? 0),
      "until it is fast again, s": round((reads[first]?.at ?? Number.NaN) / 1_000),
      "slowest ms": percentile(times, 1),
      "upkeep s": seconds,
    };
  });
};
