import { ChannelFailure } from "../channel.ts";

/** Rejects as soon as the connection ends: baileys waits 20 s for an answer that cannot arrive any more. */
export const whileOpen = async <T>(answer: Promise<T>, lost: AbortSignal): Promise<T> => {
  const { promise: interrupted, reject } = Promise.withResolvers<never>();
  const lose = () => reject(new ChannelFailure("connection-lost", false));
  lost.addEventListener("abort", lose, { once: true });
  try {
    return await Promise.race([answer, interrupted]);
  } finally {
    lost.removeEventListener("abort", lose);
  }
};

/** Converts errors of the library, which contain stanzas, to a ChannelFailure. */
export const wrapErrors = async <T>(answer: Promise<T>, signal?: AbortSignal): Promise<T> => {
  try {
    return await answer;
  } catch (cause) {
    if (cause instanceof ChannelFailure) throw cause;
    throw new ChannelFailure(signal?.aborted ? "aborted" : "failed", false, cause);
  }
};
