import type postgres from "postgres";

/** A recipient as the audience shows it: nothing of it can be relied on. */
export interface Shown {
  /** Empty where the view has none. */
  readonly key: string;
  readonly phone: string | null;
  readonly values: unknown;
  /** Rows that the view has for this key. */
  readonly copies: number;
}

/** The view cannot be read. */
export class AudienceError extends Error {
  override readonly name = "AudienceError";
}

const rowsAtOnce = 200;

/** Of the database's message nothing is told: it may quote data. */
const unreadable = (view: string, cause: unknown): AudienceError => {
  const { code = "no answer" } = cause as { code?: string };
  return new AudienceError(`the view audience.${view} cannot be read (${code})`, { cause });
};

/**
 * Reads an audience in the order of its keys, a few recipients at a time and all from one snapshot, so that
 * memory stays the same for any size, and a view is computed once.
 *
 * (The driver's own cursor does not wait for who uses its last rows, and a lost connection ends it like the
 * last row does.)
 *
 * @param moment what `audience.moment()` answers.
 * @throws AudienceError when the view cannot be read; what `use` throws.
 */
export const readAudience = async (
  sql: postgres.Sql,
  view: string,
  moment: Date,
  use: (shown: readonly Shown[]) => Promise<void>,
): Promise<void> => {
  await sql.begin("isolation level repeatable read read only", async (transaction) => {
    const read = async <T>(work: () => Promise<T>): Promise<T> =>
      work().catch((error: unknown) => {
        throw unreadable(view, error);
      });
    await transaction`select set_config('audience.moment', ${moment.toISOString()}, true)`;
    await read(
      () => transaction`
        declare shown no scroll cursor for
        select coalesce(dedupe_key::text, '') as key, min(phone::text) as phone,
          (array_agg(to_jsonb(v."values")))[1] as values, count(*)::int as copies
        from ${sql(`audience.${view}`)} v group by dedupe_key order by dedupe_key`,
    );
    for (;;) {
      const rows = await read(() => transaction.unsafe<Shown[]>(`fetch ${rowsAtOnce} from shown`));
      if (rows.length === 0) return;
      await use(rows);
    }
  });
};
