import type postgres from "postgres";

/**
 * Matches the messages that fulfil a condition, and locks them in the order of acceptance, whatever the plan: two statements that
 * change many messages never wait for each other.
 *
 * @param which a condition on `messaging.message`.
 */
export const lockedInOrder = (sql: postgres.ISql, which: postgres.Fragment) => sql`
  seq = any(array(select seq from messaging.message where ${which} order by seq + 0 for update))`;
