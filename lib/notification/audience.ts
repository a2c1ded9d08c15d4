import type postgres from "postgres";

/** A recipient in an audience view, not validated. */
export interface AudienceRow {
  /** Empty if the view has none. */
  readonly key: string;
  readonly phone: string | null;
  readonly values: unknown;
  /** What is wrong with the key. */
  readonly problem: string | null;
}

/** An audience view cannot be read, or must not be. */
export class AudienceError extends Error {
  override readonly name = "AudienceError";
}

const rowsPerFetch = 200;

/** Without security_barrier, a view may leak the rows that it filters out. */
const requireBarrier = async (sql: postgres.ISql, view: string): Promise<void> => {
  const [leaky] = await sql`
    select from pg_class c
    where relnamespace = 'audience'::regnamespace and relname = ${view} and relkind = 'v' and not exists (
      select from pg_options_to_table(c.reloptions) where option_name = 'security_barrier' and option_value::boolean)`;
  if (leaky)
    throw new AudienceError(
      `the view audience.${view} lacks security_barrier; run: ALTER VIEW audience.${view} SET (security_barrier)`,
    );
};

/** Leaves out the database's message, which may quote data. */
const unreadable = (view: string, cause: unknown): AudienceError => {
  const { code = "no answer" } = cause as { code?: string };
  return new AudienceError(`the view audience.${view} cannot be read (${code})`, { cause });
};

/**
 * Reads an audience in key order, in batches from one snapshot: memory stays constant and the view is computed once.
 *
 * The driver's cursor does not fit: it does not wait until its last rows are processed, and it reports a lost
 * connection as the end of the data.
 *
 * @param moment result of `audience.moment()` in the view.
 * @throws AudienceError if the view cannot be read or lacks security_barrier; errors of `use`.
 */
export const readAudience = async (
  sql: postgres.Sql,
  view: string,
  moment: Date,
  use: (rows: readonly AudienceRow[]) => Promise<void>,
): Promise<void> => {
  await sql.begin("isolation level repeatable read read only", async (transaction) => {
    const read = async <T>(work: () => Promise<T>): Promise<T> =>
      work().catch((error: unknown) => {
        throw unreadable(view, error);
      });
    await transaction`select set_config('audience.moment', ${moment.toISOString()}, true)`;
    await requireBarrier(transaction, view);
    await read(
      () => transaction`
        declare audience_rows no scroll cursor for
        select coalesce(dedupe_key::text, '') as key, min(phone::text) as phone,
          (array_agg(to_jsonb(v."values")))[1] as values,
          case when coalesce(dedupe_key::text, '') = '' then 'dedupe_key is missing'
            when count(*) > 1 then format('dedupe_key occurs %s times', count(*)) end as problem
        from ${sql(`audience.${view}`)} v group by dedupe_key order by dedupe_key`,
    );
    for (;;) {
      const rows = await read(() =>
        transaction.unsafe<AudienceRow[]>(`fetch ${rowsPerFetch} from audience_rows`),
      );
      if (rows.length === 0) return;
      await use(rows);
    }
  });
};
