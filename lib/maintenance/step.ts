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

/**
 * Creates a step that deletes expired rows.
 *
 * @param batchSize maximum rows per batch; a full batch means that there may be more.
 * @param expire returns the number of deleted rows.
 */
export const expiry = (
  name: string,
  batchSize: number,
  expire: (sql: postgres.Sql, batchSize: number) => Promise<readonly { rows: number }[]>,
): Step => ({
  name,
  async work(sql) {
    const rows = (await expire(sql, batchSize))[0]?.rows ?? 0;
    return { rows, more: rows === batchSize };
  },
});
