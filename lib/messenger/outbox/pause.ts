import type postgres from "postgres";

export const isPaused = async (sql: postgres.Sql): Promise<boolean> => {
  const [row] = await sql<{ paused: boolean }[]>`select paused from messaging.control`;
  return row?.paused ?? false;
};

/** Pauses or resumes sending, for every task. */
export const setPaused = async (sql: postgres.Sql, paused: boolean): Promise<void> => {
  await sql`update messaging.control set paused = ${paused}`;
};
