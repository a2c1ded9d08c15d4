import { median } from "./result.ts";

/** To hundredths. */
export const round = (value: number): number => Number(value.toFixed(2));

export const percentile = (sorted: readonly number[], share: number): number =>
  round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);

/** @returns milliseconds. */
export const timed = async (work: () => PromiseLike<unknown>): Promise<number> => {
  const started = performance.now();
  await work();
  return performance.now() - started;
};

/** The ratios of two measures, round by round, and their median. */
export const compare = (measured: readonly number[], base: readonly number[]) => {
  const ratios = measured.map((value, turn) => value / (base[turn] ?? Number.NaN));
  return { ratio: round(median(ratios)), ratios: ratios.map(round).join(" ") };
};
