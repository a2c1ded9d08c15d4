import { setTimeout as pause } from "node:timers/promises";
import { CommandError } from "../../../infra/cli/command.ts";
import type { Case } from "../../contract/case.ts";
import { contract } from "../../contract/contract.ts";
import { Mismatch } from "../../contract/mismatch.ts";
import { Skipped } from "../../contract/skipped.ts";
import {
  type ApiName,
  missingNeeds,
  type Need,
  openSystem,
  overHttp,
  type Question,
  type Send,
  type System,
} from "../../contract/system.ts";
import { howToProvide, type Target } from "../../contract/target.ts";

/** The result of one case. Contains no credentials and no personal data. */
export interface Result {
  readonly section: string;
  readonly name: string;
  readonly outcome: "passed" | "failed" | "skipped";
  readonly ms: number;
  /** Why it was skipped. */
  readonly reason?: string;
  /** Why it failed. */
  readonly failure?: {
    readonly request?: string;
    readonly expected: string;
    readonly received: string;
    readonly requestId?: string | undefined;
    readonly fix: string;
  };
}

const codeOf = (error: unknown): string => {
  const { cause, name } = error as Error & { cause?: { code?: string } };
  return cause?.code ?? name;
};

/** Enough for the gateway's own 404, which calls no function. */
const reachTimeoutMs = 5_000;

/** @throws CommandError when an address is not responding, because every case would time out. */
const checkReachable = async (url: string, timeUp: AbortSignal): Promise<void> => {
  const signal = AbortSignal.any([timeUp, AbortSignal.timeout(reachTimeoutMs)]);
  await fetch(`${url}/`, { redirect: "manual", signal }).catch((error: unknown) => {
    throw new CommandError(
      `${url} is not responding (${codeOf(error)}). Check the address, that the stage is deployed, and that this machine can reach it.`,
    );
  });
};

const maxWaitSeconds = 5;
const maxRetries = 5;

/** Retries requests that are rate-limited, if the wait is short. */
const withRetries =
  (send: Send, signal: AbortSignal): Send =>
  async (outgoing) => {
    for (let retries = 0; ; retries++) {
      const answer = await send(outgoing);
      const seconds = Number(answer.headers.get("retry-after") ?? Number.POSITIVE_INFINITY);
      if (answer.status !== 429 || seconds > maxWaitSeconds || retries === maxRetries) return answer;
      await pause(seconds * 1_000, undefined, { signal });
    }
  };

type Outcome = Pick<Result, "outcome" | "reason" | "failure">;

const skipped = (reason: string): Outcome => ({ outcome: "skipped", reason });

const outcomeOf = (error: unknown, fix: string, signal: AbortSignal): Outcome => {
  if (error instanceof Skipped) return skipped(error.message);
  if (error instanceof Mismatch) {
    const { request, expected, received, requestId } = error;
    return { outcome: "failed", failure: { request, expected, received, requestId, fix } };
  }
  if (signal.aborted) return skipped("the time limit was reached");
  // an error message may contain a part of an answer
  return { outcome: "failed", failure: { expected: "an answer", received: codeOf(error), fix } };
};

const check = async (one: Case, system: System, signal: AbortSignal): Promise<Outcome> => {
  const missing = missingNeeds(system, one.needs);
  if (missing.length > 0) return skipped(`needs ${missing.map((need) => howToProvide[need]).join("; ")}`);
  if (signal.aborted) return skipped("the time limit was reached");
  try {
    await one.check(system);
    return { outcome: "passed" };
  } catch (error) {
    return outcomeOf(error, one.fix, signal);
  }
};

/** Requests that only show whether a credential is accepted: they read and change nothing. */
const probes: Readonly<Record<"apiKey" | "basic", Question>> = {
  apiKey: { path: "/v1/penduduk", as: "partner", body: { page_number: "none" } },
  basic: { api: "messaging", method: "GET", path: "/messages/none", as: "backend" },
};

/** Asks whether a credential is accepted. @returns a failed result if it is not: every case with it would fail. */
const checkCredential = async (system: System, need: keyof typeof probes): Promise<Result | undefined> => {
  if (system.credentials[need] === undefined) return undefined;
  const started = performance.now();
  const answer = await system.ask(probes[need]).catch(() => undefined);
  if (answer?.status !== 401) return undefined;
  const failure = {
    request: answer.request,
    expected: "the credential is accepted",
    received: `401 ${answer.json?.code ?? ""}`,
    requestId: answer.headers.get("x-request-id") ?? undefined,
    fix: `Correct ${howToProvide[need]}: it is wrong, revoked or expired, or belongs to another stage.`,
  };
  const name = `accepts ${howToProvide[need]}`;
  const ms = Math.round(performance.now() - started);
  return { section: "Credentials", name, outcome: "failed", ms, failure };
};

/**
 * Runs all cases whose needs are met against a stage, one after the other.
 *
 * @param onResult called after each case.
 * @throws CommandError when an address is not responding.
 */
export const checkStage = async (
  { addresses, credentials }: Target,
  signal: AbortSignal,
  onResult: (result: Result) => void,
): Promise<readonly Result[]> => {
  await Promise.all(Object.values(addresses).map((url) => checkReachable(url, signal)));
  const send = withRetries(overHttp(addresses satisfies Record<ApiName, string>, signal), signal);
  const system = openSystem({ credentials, send });
  const results: Result[] = [];
  const rejected = new Set<Need>();
  for (const need of ["apiKey", "basic"] as const) {
    const result = await checkCredential(system, need);
    if (!result) continue;
    rejected.add(need);
    results.push(result);
    onResult(result);
  }
  for (const { title, cases } of contract)
    for (const one of cases) {
      const started = performance.now();
      const wrong = one.needs.find((need) => rejected.has(need));
      const outcome = wrong
        ? skipped(`uses ${howToProvide[wrong]}, rejected above`)
        : await check(one, system, signal);
      const ms = Math.round(performance.now() - started);
      const result = { section: title, name: one.name, ms, ...outcome };
      results.push(result);
      onResult(result);
    }
  return results;
};
