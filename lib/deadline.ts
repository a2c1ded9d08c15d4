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
