/** A value created on first use, shared by later callers, and created again after a failure. */
export interface Lazy<T> {
  (): Promise<T>;
  /** Discards the value, so that the next call creates a new one. @returns the discarded value, if any. */
  reset(): Promise<T> | undefined;
}

/**
 * Wraps an asynchronous initialisation so that it runs once and a failure is not cached.
 *
 * A rejected promise cached at module level would break a Lambda environment for the rest of its lifetime.
 */
export const lazy = <T>(make: () => Promise<T>): Lazy<T> => {
  let made: Promise<T> | undefined;
  const get = () => {
    if (made) return made;
    const attempt = make();
    made = attempt;
    attempt.catch(() => {
      if (made === attempt) made = undefined;
    });
    return attempt;
  };
  return Object.assign(get, {
    reset() {
      const forgotten = made;
      made = undefined;
      return forgotten;
    },
  });
};
