import type postgres from "postgres";
import { advisoryLocks } from "#lib/db/advisory-locks.ts";
import { connect } from "#lib/db/pool.ts";
import { log } from "#lib/log.ts";
import { auditSteps } from "./audit.ts";
import { residentSteps } from "./residents.ts";
import { type Report, runSteps, type Step, untilDone } from "./step.ts";

/** The role's statement timeout of 20 s for the last batch, plus time for the report. */
const reserveMs = 25_000;

/** Creates a step for each table whose rows are deleted because of their age. */
const listRetentionSteps = async (sql: postgres.Sql): Promise<Step[]> => {
  const tables = await sql<{ relation: string }[]>`select relation from city.retention()`;
  return tables.map(({ relation }) =>
    untilDone(`retention of ${relation}`, async (own) => {
      const [batch] = await own<{ rows: number }[]>`select city.delete_old(${relation}) as rows`;
      return batch?.rows ?? 0;
    }),
  );
};

/** Lists all steps, in their order. */
export const listSteps = async (sql: postgres.Sql): Promise<Step[]> => [
  ...(await listRetentionSteps(sql)),
  ...residentSteps,
  ...auditSteps,
];

/** @returns undefined if another run is in progress. */
const runAlone = async (until: number): Promise<Report[] | undefined> => {
  const lost = new AbortController();
  // a new connection for each run, so that the next run uses a rotated password
  const sql = await connect(1, () => lost.abort(new Error("the connection was lost before this step")));
  try {
    const [lock] = await sql<
      { taken: boolean }[]
    >`select pg_try_advisory_lock(${advisoryLocks.maintenance}) as taken`;
    return lock?.taken ? await runSteps(sql, await listSteps(sql), until, lost.signal) : undefined;
  } finally {
    // closing the connection releases the lock
    await sql.end({ timeout: 1 });
  }
};

/**
 * Runs maintenance, unless another run is in progress, and logs a report of every step.
 *
 * @param remainingMs until the function times out.
 * @throws Error that names the failed steps; the other steps were completed.
 */
export const maintain = async (remainingMs: number): Promise<void> => {
  const reports = await runAlone(Date.now() + remainingMs - reserveMs);
  if (!reports) return log.info("maintenance is already in progress");
  const failed = reports.filter(({ error }) => error !== undefined).map(({ step }) => step);
  log[failed.length === 0 ? "info" : "error"]("maintenance", { steps: reports });
  if (failed.length > 0) throw new Error(`maintenance failed at ${failed.join(", ")}`);
};
