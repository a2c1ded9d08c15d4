/**
 * A repeatable source of numbers for one row: the same row gives the same numbers, however many rows are
 * made (mulberry32, seeded by the row).
 *
 * @returns a function that gives the next number in [0, 1).
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

/** One of the values, all as likely as each other. */
export const pick = <T>(random: () => number, values: readonly [T, ...T[]]): T =>
  values[Math.floor(random() * values.length)] ?? values[0];

/** One of the values by Zipf's law: the second is half as likely as the first, the third a third. */
export const zipf = (values: readonly [string, ...string[]]) => {
  const sums: number[] = [];
  for (const i of values.keys()) sums.push((sums[i - 1] ?? 0) + 1 / (i + 1));
  const total = sums.at(-1) ?? 1;
  return (random: () => number): string => {
    const target = random() * total;
    return values[sums.findIndex((sum) => sum > target)] ?? values[0];
  };
};
