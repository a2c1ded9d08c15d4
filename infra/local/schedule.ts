import type { InternalFunction } from "#lib/routes/internal.ts";

/** Runs each function of the table that repeats, at once and then as often as it says. @returns what ends it. */
export const startSchedule = (
  functions: readonly InternalFunction[],
  invoke: (fn: string) => Promise<unknown>,
): (() => void) => {
  const timers = functions.flatMap(({ fn, everyMinutes }) => {
    if (everyMinutes === undefined) return [];
    void invoke(fn);
    return setInterval(() => void invoke(fn), everyMinutes * 60_000);
  });
  return () => timers.forEach(clearInterval);
};
