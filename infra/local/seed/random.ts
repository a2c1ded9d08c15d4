/**
 * Creates a random number generator for one row (mulberry32, seeded with the row): a row's numbers do not depend on
 * the number of rows.
 *
 * @returns a function that returns the next number in [0, 1).
 */
export const randomOf = (row: number): (() => number) => {
  let state = Math.imul(row ^ 0x9e3779b9, 0x85ebca6b);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

/** Picks one of the values with equal probability. */
export const pick = <T>(random: () => number, values: readonly [T, ...T[]]): T =>
  values[Math.floor(random() * values.length)] ?? values[0];

/**
 * Picks values by Zipf's law: the second is half as likely as the first, the third a third.
 *
 * @param list comma-separated values.
 */
export const zipf = (list: string) => {
  const values = list.trim().split(/,\s+/);
  const sums: number[] = [];
  for (const i of values.keys()) sums.push((sums[i - 1] ?? 0) + 1 / (i + 1));
  const total = sums.at(-1) ?? 1;
  return (random: () => number): string => {
    const target = random() * total;
    return values[sums.findIndex((sum) => sum > target)] ?? "";
  };
};
