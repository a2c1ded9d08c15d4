import type postgres from "postgres";

/**
 * Creates `bench.share(n, salt)`: a number from 0 to 1 that is always the same for a row, a salt and the seed. Loading needs no
 * order and no state then.
 */
export const createShare = (owner: postgres.Sql, seed: number) =>
  owner
    .unsafe(
      `create schema bench;
       grant usage on schema bench to public;
       create function bench.share(n bigint, salt integer) returns float8 language sql immutable parallel safe
       return (hashint8extended(n, salt + ${seed} * 1000) & 1099511627775)::float8 / 1099511627776`,
    )
    .simple();

/** Rows of a statement: more would make it an hour's transaction, fewer would only add round trips. */
const perStatement = 100_000;

/** Calls for each part of the numbers from 1 to `count`. */
export const inBatches = async (
  count: number,
  insert: (from: number, to: number) => PromiseLike<unknown>,
): Promise<void> => {
  for (let from = 1; from <= count; from += perStatement)
    await insert(from, Math.min(count, from + perStatement - 1));
};
