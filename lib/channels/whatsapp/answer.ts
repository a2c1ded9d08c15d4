import { untilAborted } from "#lib/deadline.ts";
import { ChannelFailure } from "../channel.ts";

/** Rejects as soon as the connection ends: baileys waits 20 s for an answer that cannot arrive any more. */
export const whileOpen = <T>(answer: Promise<T>, lost: AbortSignal): Promise<T> =>
  untilAborted(answer, lost, () => new ChannelFailure("connection-lost", false));

/** Converts errors of the library, which contain stanzas, to a ChannelFailure. */
export const wrapErrors = async <T>(answer: Promise<T>, signal?: AbortSignal): Promise<T> => {
  try {
    return await answer;
  } catch (cause) {
    if (cause instanceof ChannelFailure) throw cause;
    throw new ChannelFailure(signal?.aborted ? "aborted" : "failed", false, cause);
  }
};
