import { setTimeout as pause } from "node:timers/promises";
import { CommandError } from "../../infra/commands/command.ts";
import type { Case } from "../contract/case.ts";
import { contract } from "../contract/contract.ts";
import { Mismatch } from "../contract/mismatch.ts";
import { NotAsked } from "../contract/not-asked.ts";
import { type ApiName, lackedBy, openSystem, overHttp, type Send, type System } from "../contract/system.ts";
import { howToGive, type Target } from "./target.ts";

/** What became of one case. Holds no credential and nobody's data. */
export interface Result {
  readonly section: string;
  readonly name: string;
  readonly outcome: "passed" | "failed" | "not asked";
  readonly ms: number;
  /** Why it was not asked. */
  readonly reason?: string;
  /** Of one that failed. */
  readonly failure?: {
    readonly asked?: string;
    readonly expected: string;
    readonly came: string;
    readonly requestId?: string | undefined;
    readonly mend: string;
  };
}

const codeOf = (error: unknown): string => {
  const { cause, name } = error as Error & { cause?: { code?: string } };
  return cause?.code ?? name;
};

/** For the gateway's own 404, which waits for no function. */
const knockMs = 5_000;

/** @throws CommandError where nobody answers, which would make every case wait. */
const knock = async (url: string, timeUp: AbortSignal): Promise<void> => {
  const signal = AbortSignal.any([timeUp, AbortSignal.timeout(knockMs)]);
  await fetch(`${url}/`, { redirect: "manual", signal }).catch((error: unknown) => {
    throw new CommandError(
      `${url} does not answer (${codeOf(error)}). Is the address right, is the stage deployed, and may this machine reach it?`,
    );
  });
};

const longestWaitSeconds = 5;
const mostWaits = 5;

/** Asks again what was too much at once for the key's plan, when the wait is a short one. */
const patiently =
  (send: Send, signal: AbortSignal): Send =>
  async (outgoing) => {
    for (let waits = 0; ; waits++) {
      const answer = await send(outgoing);
      const seconds = Number(answer.headers.get("retry-after") ?? Number.POSITIVE_INFINITY);
      if (answer.status !== 429 || seconds > longestWaitSeconds || waits === mostWaits) return answer;
      await pause(seconds * 1_000, undefined, { signal });
    }
  };

type Ending = Pick<Result, "outcome" | "reason" | "failure">;

const notAsked = (reason: string): Ending => ({ outcome: "not asked", reason });

const endingOf = (error: unknown, mend: string, signal: AbortSignal): Ending => {
  if (error instanceof NotAsked) return notAsked(error.message);
  if (error instanceof Mismatch) {
    const { asked, expected, came, requestId } = error;
    return { outcome: "failed", failure: { asked, expected, came, requestId, mend } };
  }
  if (signal.aborted) return notAsked("the time was up");
  // what an error says may hold a part of an answer
  return { outcome: "failed", failure: { expected: "an answer", came: codeOf(error), mend } };
};

const check = async (one: Case, system: System, signal: AbortSignal): Promise<Ending> => {
  const lacked = lackedBy(system, one.needs);
  if (lacked.length > 0) return notAsked(`for want of ${lacked.map((need) => howToGive[need]).join("; ")}`);
  if (signal.aborted) return notAsked("the time was up");
  try {
    await one.check(system);
    return { outcome: "passed" };
  } catch (error) {
    return endingOf(error, one.mend, signal);
  }
};

/**
 * Asks a stage all cases that it may be asked, one after the other.
 *
 * @param onResult called as soon as a case is through.
 * @throws CommandError where nobody answers at an address.
 */
export const askStage = async (
  { addresses, credentials }: Target,
  signal: AbortSignal,
  onResult: (result: Result) => void,
): Promise<readonly Result[]> => {
  await Promise.all(Object.values(addresses).map((url) => knock(url, signal)));
  const send = patiently(overHttp(addresses satisfies Record<ApiName, string>, signal), signal);
  const system = openSystem({ credentials, gateway: true, send });
  const results: Result[] = [];
  for (const { title, cases } of contract)
    for (const one of cases) {
      const started = performance.now();
      const ending = await check(one, system, signal);
      const ms = Math.round(performance.now() - started);
      const result = { section: title, name: one.name, ms, ...ending };
      results.push(result);
      onResult(result);
    }
  return results;
};
