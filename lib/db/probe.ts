import type postgres from "postgres";
import { deadline } from "#lib/deadline.ts";

const timeoutMs = 1_000;

/** One query in flight for each pool, until the driver ends it. */
const probes = new WeakMap<postgres.Sql, Promise<boolean>>();

const probe = (sql: postgres.Sql): Promise<boolean> => {
  const answered = sql`select 1`
    .then(
      () => true,
      () => false,
    )
    .finally(() => probes.delete(sql));
  probes.set(sql, answered);
  return answered;
};

/** Whether the database answers in time. Callers share a query: polls add none to a database that hangs. */
export const isDatabaseUp = (sql: postgres.Sql): Promise<boolean> =>
  deadline(probes.get(sql) ?? probe(sql), timeoutMs).catch(() => false);
