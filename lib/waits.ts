/** Milliseconds that the request has waited for others, by the field of its log line. */
type Waits = Partial<Record<"database_ms" | "http_ms", number>>;

/** Of the request that is served: a Lambda environment serves one at a time. */
let waits: Waits = {};

/** Returns the waits since the last call, and begins to count those of the next request. */
export const takeWaits = (): Waits => {
  const taken = waits;
  waits = {};
  return taken;
};

/** Adds the time until `work` ends to a field. Waits at the same time are counted each. */
export const waiting = async <T>(field: keyof Waits, work: Promise<T>): Promise<T> => {
  const started = performance.now();
  try {
    return await work;
  } finally {
    waits[field] = (waits[field] ?? 0) + Math.round(performance.now() - started);
  }
};
