import type postgres from "postgres";
import { expect } from "vitest";

/** Checks that none of the statements is carried out, each for lack of a privilege. */
export const expectDenied = async (sql: postgres.Sql, statements: readonly string[]): Promise<void> => {
  for (const statement of statements)
    expect([statement, await refusal(sql, statement)]).toEqual([statement, "42501"]);
};

/** The SQLSTATE with which a statement is refused, or undefined when it is carried out. */
export const refusal = (sql: postgres.Sql, statement: string): Promise<string | undefined> =>
  sql.unsafe(statement).then(
    () => undefined,
    (error: { code?: string }) => error.code,
  );
