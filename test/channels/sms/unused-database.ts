import type postgres from "postgres";

/** The channel asks no database. */
export const unusedDatabase = (() => {
  throw new Error("the channel has asked the database");
}) as unknown as postgres.Sql;
