import { connect } from "#lib/db/pool.ts";
import { log } from "#lib/log.ts";
import { type Report, runSteps } from "./run.ts";
import { steps } from "./steps.ts";

/** Whoever holds this lock does the upkeep. */
const lockKey = 7_206_305;

/** The last piece of work may take 20 s, as long as the role's statements; the rest is for the report. */
const reserveMs = 25_000;

/** @returns undefined when another run is under way. */
const runAlone = async (until: number): Promise<Report[] | undefined> => {
  const lost = new AbortController();
  // of its own for each run: a rotated password is in use by the next one
  const sql = await connect(1, () => lost.abort(new Error("the connection was lost before this step")));
  try {
    const [lock] = await sql<{ taken: boolean }[]>`select pg_try_advisory_lock(${lockKey}) as taken`;
    return lock?.taken ? await runSteps(sql, steps, until, lost.signal) : undefined;
  } finally {
    // the lock goes with the connection
    await sql.end({ timeout: 1 });
  }
};

/**
 * Does one run of the upkeep, unless another one is under way, and reports every step in one line of the log.
 *
 * @param remainingMs until the run would be killed.
 * @throws Error that names the steps that failed; the others were done.
 */
export const maintain = async (remainingMs: number): Promise<void> => {
  const reports = await runAlone(Date.now() + remainingMs - reserveMs);
  if (!reports) return log.info("maintenance is under way already");
  const failed = reports.filter(({ error }) => error !== undefined).map(({ step }) => step);
  log[failed.length === 0 ? "info" : "error"]("maintenance", { steps: reports });
  if (failed.length > 0) throw new Error(`maintenance failed at ${failed.join(", ")}`);
};
