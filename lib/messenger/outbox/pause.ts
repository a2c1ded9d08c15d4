import type postgres from "postgres";

interface Pause {
  readonly paused: boolean;
  readonly pausedSince: Date | null;
}

export const findPause = async (sql: postgres.ISql): Promise<Pause> => {
  const [row] = await sql<Pause[]>`select paused, paused_at as "pausedSince" from messaging.control`;
  return row ?? { paused: false, pausedSince: null };
};

/** Pauses or resumes sending, for every task. */
export const setPaused = async (sql: postgres.Sql, paused: boolean): Promise<void> => {
  await sql`
    update messaging.control
    set paused = ${paused}, paused_at = case when ${paused} then coalesce(paused_at, now()) end`;
};
