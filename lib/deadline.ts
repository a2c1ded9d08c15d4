import { setTimeout } from "node:timers/promises";

const fail = async (ms: number): Promise<never> => {
  await setTimeout(ms, undefined, { ref: false });
  throw new Error(`no answer within ${ms} ms`);
};

/** The promise's value. @throws Error when it takes longer. */
export const awaitWithin = <T>(ms: number, promise: Promise<T>): Promise<T> =>
  Promise.race([promise, fail(ms)]);
