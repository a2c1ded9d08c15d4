import { log } from "./log.ts";

/** A cached value that expires. */
export interface Cached<T> {
  get(): Promise<T>;
  /** Fetches the value now, whatever its age. */
  refresh(): Promise<T>;
  /** Age of the cached value; without one, the time since 1970. */
  ageMs(): number;
}

/**
 * Whether something from the Unix time `at` is younger than `maxAgeMs`. A time in the future is not: the clock
 * was set back since, by an unknown amount.
 */
export const isYounger = (at: number, maxAgeMs: number): boolean => {
  const ageMs = Date.now() - at;
  return ageMs >= 0 && ageMs < maxAgeMs;
};

/**
 * Caches what `fetch` returns for `maxAgeMs`, so that a change elsewhere reaches a warm function within that time.
 * An expired value stays in use while it cannot be refreshed.
 *
 * @param name for the log.
 */
export const cached = <T>(name: string, maxAgeMs: number, fetch: () => Promise<T>): Cached<T> => {
  let entry: { value: T; at: number } | undefined;
  const refresh = async (): Promise<T> => {
    const value = await fetch();
    entry = { value, at: Date.now() };
    return value;
  };
  return {
    refresh,
    ageMs: () => Date.now() - (entry?.at ?? 0),
    async get() {
      if (!entry) return refresh();
      if (isYounger(entry.at, maxAgeMs)) return entry.value;
      const { value } = entry;
      return refresh().catch((error: unknown) => {
        log.warn(`${name} could not be refreshed; the cached value stays in use`, { error });
        return value;
      });
    },
  };
};

/** Starts the first fetch while the module loads. A failure is reported by the first use. */
export const prepare = (value: Cached<unknown>): void => {
  value.get().catch(() => {});
};

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
