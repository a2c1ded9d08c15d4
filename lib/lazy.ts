/** A value made on first use, shared by every later caller, and made again after a failure. */
export interface Lazy<T> {
  (): Promise<T>;
  /** Forgets the value, so that the next call makes a new one. @returns what was forgotten, if anything. */
  reset(): Promise<T> | undefined;
}

/**
 * Wraps an asynchronous initialisation so that it runs once and a failure is not remembered.
 *
 * A rejected promise kept at module level would break a Lambda environment for the rest of its life.
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
