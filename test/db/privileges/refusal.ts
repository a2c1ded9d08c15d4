import type postgres from "postgres";

/** SQLSTATE of a statement without the privilege. */
export const DENIED = "42501";

/** The SQLSTATE with which a statement is refused, or undefined when it is carried out. */
export const refusal = (sql: postgres.Sql, statement: string): Promise<string | undefined> =>
  sql.unsafe(statement).then(
    () => undefined,
    (error: { code?: string }) => error.code,
  );
