import { log } from "./log.ts";

/** A value that is fetched again when it has grown old. */
export interface Kept<T> {
  get(): Promise<T>;
  /** Fetches it now, however old it is. */
  refresh(): Promise<T>;
  /** Since the value at hand was fetched; without one, since 1970. */
  ageMs(): number;
}

/**
 * Keeps what was fetched for `maxAgeMs`, and longer only while it cannot be fetched again: what was changed
 * or taken back elsewhere reaches a warm function within that time.
 *
 * @param name what the log calls it.
 */
export const keep = <T>(name: string, maxAgeMs: number, fetch: () => Promise<T>): Kept<T> => {
  let kept: { value: T; at: number } | undefined;
  const refresh = async (): Promise<T> => {
    const value = await fetch();
    kept = { value, at: Date.now() };
    return value;
  };
  return {
    refresh,
    ageMs: () => Date.now() - (kept?.at ?? 0),
    async get() {
      if (!kept) return refresh();
      if (Date.now() - kept.at < maxAgeMs) return kept.value;
      const { value } = kept;
      return refresh().catch((error: unknown) => {
        log.warn(`${name} cannot be fetched again; what is at hand stays in use`, { error });
        return value;
      });
    },
  };
};

/** Starts the fetch while the module loads; a failure shows at the first use. */
export const prepare = (kept: Kept<unknown>): void => {
  kept.get().catch(() => {});
};
