import type { InternalFunction } from "#lib/routes/internal.ts";

/** Runs each periodic function now and then at its interval. @returns a function that stops it. */
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
