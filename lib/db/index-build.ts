import type postgres from "postgres";
import { splitStatements } from "./statements.ts";

/** The index of a statement, with the schema of its table, where indexes are. */
const findIndex = (statement: string): string | undefined => {
  const [, index, schema = ""] =
    /^create\s+(?:unique\s+)?index\s+concurrently\s+if\s+not\s+exists\s+(\w+)\s+on\s+(\w+\.)?/i.exec(
      statement,
    ) ?? [];
  return index && schema + index;
};

/** An index whose build did not end slows each write, may reject rows, and counts as existing. */
const dropInvalid = async (sql: postgres.Sql, index: string): Promise<void> => {
  const [invalid] = await sql`
    select from pg_index where indexrelid = to_regclass(${index}) and not indisvalid`;
  if (invalid) await sql.unsafe(`drop index concurrently ${index}`);
};

/**
 * Runs statements one by one, outside of a transaction. They must do nothing when they have run already, because all of
 * them run again after a failure.
 *
 * @throws Error of the statement that failed, after its invalid index was dropped.
 */
export const runConcurrently = async (sql: postgres.Sql, text: string): Promise<void> => {
  for (const statement of splitStatements(text)) {
    const index = findIndex(statement);
    if (index) await dropInvalid(sql, index);
    try {
      await sql.unsafe(statement);
    } catch (error) {
      // without a connection the next run drops it
      if (index) await dropInvalid(sql, index).catch(() => {});
      throw error;
    }
  }
};
