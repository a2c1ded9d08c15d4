/** With random passwords, five checks per second are useless to guess: 158 million a year. */
const intervalMs = 200;
const burst = 5;
const maxWaitMs = 30_000;

/**
 * Rate-limits logins. All operators share the address of the forwarded port, so a lock after failures would reject
 * the right password too: each attempt is delayed instead, until it is its turn.
 */
export class Throttle {
  readonly #now: () => number;
  #next = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** @returns the milliseconds until the attempt may be checked; undefined if too many others wait. */
  reserve(): number | undefined {
    const now = this.#now();
    const at = Math.max(this.#next, now - (burst - 1) * intervalMs);
    if (at - now > maxWaitMs) return undefined;
    this.#next = at + intervalMs;
    return Math.max(0, at - now);
  }

  static readonly retryAfterSeconds = maxWaitMs / 1_000;
}
