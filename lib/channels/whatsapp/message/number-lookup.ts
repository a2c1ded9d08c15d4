import { ChannelFailure } from "../../channel.ts";

/** Whether the platform has failed, or was asked too much, rather than rejected a query for one user. */
const isOutage = (error: unknown): boolean => {
  const { isBoom, data, output } = (error ?? {}) as {
    isBoom?: boolean;
    data?: unknown;
    output?: { statusCode?: number };
  };
  // 428: the connection was closed
  if (!isBoom || output?.statusCode === 428) return false;
  // baileys puts the platform's code there; without one it is a timeout
  return typeof data !== "number" || Number.isNaN(data) || data === 429 || data >= 500;
};

/** @throws ChannelFailure "directory-failed" when the platform fails to answer for numbers, devices or keys. */
export const askDirectory = async <T>(answer: Promise<T>): Promise<T> => {
  try {
    return await answer;
  } catch (cause) {
    throw isOutage(cause) ? new ChannelFailure("directory-failed", false, cause) : cause;
  }
};
