import { httpClient, type NoAnswer } from "./http-client.ts";
import { log } from "./log.ts";

const ask = httpClient({ connectTimeoutMs: 3_000, maxAnswerBytes: 100_000 });
const totalTimeoutMs = 8_000;

/** The root of an API leads to the documentation; that of an API without one is not found. */
const isAnswer = (status: number): boolean => status < 400 || status === 404;

/**
 * Asks each address for its root.
 *
 * @param addresses by name, for the log. @throws Error when one does not answer, or not as it should.
 */
export const probe = async (addresses: Readonly<Record<string, string>>): Promise<void> => {
  const failed = await Promise.all(
    Object.entries(addresses).map(async ([api, url]) => {
      const answer = await ask({ method: "GET", url, path: "/" }, totalTimeoutMs).catch(
        (error: NoAnswer) => error,
      );
      if ("status" in answer && isAnswer(answer.status)) return [];
      log.error(
        "no answer from outside",
        "status" in answer ? { api, status: answer.status } : { api, error: answer },
      );
      return [api];
    }),
  );
  const names = failed.flat();
  if (names.length > 0) throw new Error(`no answer from ${names.join(" and ")}`);
};
