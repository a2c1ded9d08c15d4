import type postgres from "postgres";

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

/** Comments, strings, quoted names, dollar-quoted texts, semicolons, words, anything else. */
const token =
  /--.*|\/\*[\s\S]*?\*\/|e'(?:[^'\\]|\\.|'')*'|'[^']*'|"[^"]*"|(\$\w*\$)[\s\S]*?\1|;|\w+|[\s\S]/gi;

/**
 * Splits SQL into its statements, without their comments and final semicolons. Knows quotes, dollar quotes and the bodies
 * of `begin atomic … end`, but not nested comments.
 */
export const splitStatements = (sql: string): string[] => {
  const statements: string[] = [];
  let statement = "";
  let depth = 0;
  const end = () => {
    if (statement.trim() !== "") statements.push(statement.trim());
    statement = "";
  };
  for (const [text] of sql.matchAll(token)) {
    if (/^atomic$/i.test(text) || (depth > 0 && /^case$/i.test(text))) depth++;
    else if (depth > 0 && /^end$/i.test(text)) depth--;
    if (text === ";" && depth === 0) end();
    else statement += /^(--|\/\*)/.test(text) ? " " : text;
  }
  end();
  return statements;
};
