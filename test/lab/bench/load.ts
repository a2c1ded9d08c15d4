import postgres from "postgres";
import { percentile } from "./timing.ts";

export interface Answer {
  readonly status: number;
  readonly ms: number;
}

export type Ask = () => Promise<Answer>;

/** Counts answers by status. Percentiles are of those that were served. */
export const summarize = (answers: readonly Answer[]) => {
  const count = (status: number) => answers.filter((answer) => answer.status === status).length;
  const sorted = answers
    .filter(({ status }) => status === 200)
    .map(({ ms }) => ms)
    .toSorted((a, b) => a - b);
  return {
    served: sorted.length,
    "429": count(429),
    "502": count(502),
    "503": count(503),
    "500": count(500),
    "p50 ms": percentile(sorted, 0.5),
    "p99 ms": percentile(sorted, 0.99),
  };
};

/** Sends requests at a rate whether or not the earlier ones are answered. */
export const sendAt = async (ask: Ask, rate: number, seconds: number): Promise<Answer[]> => {
  const answers: Promise<Answer>[] = [];
  const started = performance.now();
  while (answers.length < rate * seconds) {
    const due = Math.min(rate * seconds, Math.floor(((performance.now() - started) / 1_000) * rate) + 1);
    while (answers.length < due) answers.push(ask());
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return Promise.all(answers);
};

/** Milliseconds until ten requests in a row are served. */
export const recover = async (ask: Ask): Promise<number> => {
  const started = performance.now();
  for (let served = 0; served < 10; ) served = (await ask()).status === 200 ? served + 1 : 0;
  return Math.round(performance.now() - started);
};

/** Sends requests at one rate after the other, and waits after each until they are served again. */
export const sweep = async (ask: Ask, rates: readonly number[], seconds: number, signal: AbortSignal) => {
  const rows = [];
  for (const rate of rates) {
    signal.throwIfAborted();
    rows.push({ "offered per s": rate, ...summarize(await sendAt(ask, rate, seconds)) });
    await recover(ask);
  }
  return rows;
};

/** Sends requests at once while an operator connects to the database. */
export const burst = async (ask: Ask, requests: number, adminUrl: string) => {
  const operator = postgres(adminUrl, { max: 1, fetch_types: false });
  const answering = Promise.all(Array.from({ length: requests }, ask));
  const asked = performance.now();
  await operator`select 1`;
  const operatorMs = Math.round(performance.now() - asked);
  const answers = await answering;
  const recoveredMs = await recover(ask);
  await operator.end();
  return { requests, ...summarize(answers), operatorMs, recoveredMs };
};
