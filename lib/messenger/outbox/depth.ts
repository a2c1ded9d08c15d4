import type postgres from "postgres";

/** Messages in a state that is not final. */
export interface Depth {
  readonly state: string;
  readonly count: number;
  readonly oldestSeconds: number;
}

/** How many messages wait and are being sent; a state that nothing is in has no row. */
export const listDepths = (sql: postgres.Sql) => sql<Depth[]>`
  select state, count(*)::int as count,
    extract(epoch from now() - min(accepted_at))::float8 as "oldestSeconds"
  from messaging.message where state in ('PENDING', 'SENDING') group by state order by state`;

/** Whether the operator holds messages back. */
export const isPaused = async (sql: postgres.Sql): Promise<boolean> => {
  const [row] = await sql<{ paused: boolean }[]>`select paused from messaging.control`;
  return row?.paused ?? false;
};

/** Whether messages go out, for every task. */
export const setPaused = async (sql: postgres.Sql, paused: boolean): Promise<void> => {
  await sql`update messaging.control set paused = ${paused}`;
};
