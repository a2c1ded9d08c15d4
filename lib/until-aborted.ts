/**
 * The promise's value, unless the signal is aborted first. A later value or error is ignored.
 *
 * @param onAbort makes the error.
 */
export const untilAborted = async <T>(
  promise: PromiseLike<T>,
  signal: AbortSignal | undefined,
  onAbort: () => unknown = () => signal?.reason,
): Promise<T> => {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(onAbort());
  if (signal?.aborted) abort();
  signal?.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([aborted.promise, promise]);
  } finally {
    signal?.removeEventListener("abort", abort);
  }
};
