/**
 * The promise's value, if it settles in time. A later value or error is ignored.
 *
 * @param onTimeout makes the error, and may cancel the work.
 * @throws Error after `ms`.
 */
export const deadline = async <T>(
  promise: PromiseLike<T>,
  ms: number,
  onTimeout: () => Error = () => new Error(`no answer within ${ms} ms`),
): Promise<T> => {
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => timeout.reject(onTimeout()), ms);
  try {
    return await Promise.race([promise, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
};

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

/**
 * Returns milliseconds, about Unix time, that no change of the machine's clock affects. Not for a Lambda function:
 * this clock may stand still while its environment is frozen.
 */
export const steadyNow = (): number => performance.timeOrigin + performance.now();
