import type postgres from "postgres";

/**
 * Walks from one sender to the next in an index: DISTINCT would read all messages.
 *
 * @param condition on `messaging.message`, for which there is an index by sender.
 * @returns a query for `with recursive senders (sender) as`, whose last row is null.
 */
export const walkSenders = (sql: postgres.ISql, condition: postgres.Fragment) => sql`
  (select sender from messaging.message where ${condition} order by sender limit 1)
  union all
  select (select m.sender from messaging.message m where ${condition} and m.sender > s.sender order by m.sender limit 1)
  from senders s where s.sender is not null`;

/** Lists who has sent messages. */
export const listSenders = async (sql: postgres.ISql): Promise<string[]> => {
  const rows = await sql<{ sender: string }[]>`
    with recursive senders (sender) as (${walkSenders(sql, sql`true`)})
    select sender from senders where sender is not null`;
  return rows.map(({ sender }) => sender);
};
