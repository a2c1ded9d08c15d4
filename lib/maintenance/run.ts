import type postgres from "postgres";
import type { Step } from "./step.ts";

/** How one step went. */
export interface Report {
  readonly step: string;
  readonly rows: number;
  readonly milliseconds: number;
  /** Whether nothing was left to do; else the next run goes on. */
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
      const piece = await work(sql);
      rows += piece.rows;
      more = piece.more;
    }
    return { ...report(), finished: !more };
  } catch (error) {
    return { ...report(), finished: false, error };
  }
};

/**
 * Does each step for as long as it has something to do, but no longer than its share of the time: what is
 * left is divided among the steps that are left, so that none keeps the ones behind it waiting for ever.
 *
 * @param until no piece of work begins after this; Unix time in milliseconds.
 * @param lost says that the connection has ended, and with it the right to go on.
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
