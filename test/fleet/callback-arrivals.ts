/** What has arrived at a server of a test. */
export const openArrivals = <T>() => {
  const all: T[] = [];
  const waiting: { done: () => boolean; resolve: () => void }[] = [];
  return {
    all,
    /** @param judge is asked before those who wait for the arrival. @returns what it says. */
    add<A>(one: T, judge: (count: number) => A): A {
      all.push(one);
      const said = judge(all.length);
      for (const { done, resolve } of waiting) if (done()) resolve();
      return said;
    },
    /** Resolves as soon as a condition on the arrivals holds. */
    until: (done: () => boolean): Promise<void> =>
      done() ? Promise.resolve() : new Promise((resolve) => void waiting.push({ done, resolve })),
  };
};
