import type postgres from "postgres";

interface Batch {
  /** Rows that were deleted, changed or checked. */
  readonly rows: number;
  /** Whether there is more work now. */
  readonly more: boolean;
}

export interface Step {
  /** Used in the log and the runbook. */
  readonly name: string;
  /**
   * Processes and commits one batch, so that an interrupted run continues there next time. Called again while there
   * is more work and time. A batch must take less than the role's statement timeout of 20 s.
   *
   * @throws Error if a check fails. The other steps still run, then the run fails.
   */
  readonly work: (sql: postgres.Sql) => Promise<Batch>;
}

/** Creates a step that repeats work until it returns 0. */
export const untilDone = (name: string, work: (sql: postgres.Sql) => Promise<number>): Step => ({
  name,
  async work(sql) {
    const rows = await work(sql);
    return { rows, more: rows > 0 };
  },
});

export interface Report {
  readonly step: string;
  readonly rows: number;
  readonly milliseconds: number;
  /** False if work is left for the next run. */
  readonly finished: boolean;
  readonly error?: unknown;
}

const runStep = async (
  sql: postgres.Sql,
  { name, work }: Step,
  until: number,
  lost: AbortSignal,
): Promise<Report> => {
  const started = performance.now();
  let rows = 0;
  let more = true;
  const report = () => ({ step: name, rows, milliseconds: Math.round(performance.now() - started) });
  try {
    while (more && Date.now() < until) {
      lost.throwIfAborted();
      const batch = await work(sql);
      rows += batch.rows;
      more = batch.more;
    }
    return { ...report(), finished: !more };
  } catch (error) {
    return { ...report(), finished: false, error };
  }
};

/**
 * Runs each step until it has no more work or its share of the time is used up. The remaining time is divided among
 * the remaining steps, so that no step starves the next ones.
 *
 * @param until Unix milliseconds after which no batch starts.
 * @param lost aborted when the connection is lost, and with it the advisory lock.
 */
export const runSteps = async (
  sql: postgres.Sql,
  steps: readonly Step[],
  until: number,
  lost: AbortSignal,
): Promise<Report[]> => {
  const reports: Report[] = [];
  for (const [index, step] of steps.entries()) {
    const share = (until - Date.now()) / (steps.length - index);
    reports.push(await runStep(sql, step, Date.now() + share, lost));
  }
  return reports;
};
