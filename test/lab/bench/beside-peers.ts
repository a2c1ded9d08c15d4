import { type Measure, measureOf, median } from "./result.ts";
import type { Round } from "./rounds.ts";

/** A framework that does the duty of a function of ours, and checks its caller too. */
export interface PeerFigures {
  readonly function: string;
  readonly peer: string;
  /** Over the rounds, of the peer's time divided by the empty handler's. */
  readonly ratio: Measure;
  /** Of our function's time divided by the peer's: below 1, ours is sooner. */
  readonly share: Measure;
  /** Median. */
  readonly ms: number;
  readonly bundleKb: number;
}

/** What the caller of a guarded function waits for, with us: the gateway calls its authorizer first, then the function. */
export interface CallerWait {
  readonly function: string;
  /** Cold, or warm while the function is cold. */
  readonly authorizer: "cold" | "warm";
  /** Over the rounds, of both times together divided by one start of the empty handler. */
  readonly ratio: Measure;
  /** Of the same divided by as many starts of the empty handler as there are cold starts. */
  readonly perStart: Measure;
  /** Median. */
  readonly ms: number;
  /** Medians of each peer's time, which includes the check of the caller, divided by both: above 1, ours is sooner. */
  readonly peers: Readonly<Record<string, number>>;
}

export const empty = "empty";

export const round = (value: number, digits: number) => Number(value.toFixed(digits));

/** The time of a contender in one round. @throws Error if it did not start. */
export const msOf = (starts: Round, name: string): number => {
  const start = starts.get(name);
  if (!start) throw new Error(`${name} did not start`);
  return start.ms;
};

const divide = (rounds: readonly Round[], one: (starts: Round) => number, other: (starts: Round) => number) =>
  measureOf(rounds.map((starts) => one(starts) / other(starts)));

export const ratioOf = (rounds: readonly Round[], name: string, to: string): Measure =>
  divide(
    rounds,
    (starts) => msOf(starts, name),
    (starts) => msOf(starts, to),
  );

/** @returns the waits behind a cold and a warm authorizer. */
export const callerWaitsOf = (
  fn: string,
  authorizer: string,
  peers: readonly string[],
  rounds: readonly Round[],
): CallerWait[] =>
  (["cold", "warm"] as const).map((state) => {
    const guardMs = (starts: Round) =>
      state === "cold" ? msOf(starts, authorizer) : (starts.get(authorizer)?.againMs ?? Number.NaN);
    const waitMs = (starts: Round) => guardMs(starts) + msOf(starts, fn);
    const colds = state === "cold" ? 2 : 1;
    return {
      function: fn,
      authorizer: state,
      ratio: divide(rounds, waitMs, (starts) => msOf(starts, empty)),
      perStart: divide(rounds, waitMs, (starts) => colds * msOf(starts, empty)),
      ms: round(median(rounds.map(waitMs)), 1),
      peers: Object.fromEntries(
        peers.map((peer) => [peer, divide(rounds, (starts) => msOf(starts, peer), waitMs).median]),
      ),
    };
  });
