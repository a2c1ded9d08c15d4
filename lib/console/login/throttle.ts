/** With random passwords, a check per second is useless to guess; it takes 150 ms of a core, of which the task has a quarter. */
const intervalMs = 1_000;
const burst = 5;
const maxWaitMs = 30_000;
/** As many as are reserved within that time; more only if the checks take longer than a second. */
const maxChecks = maxWaitMs / intervalMs + burst;

/**
 * Rate-limits logins. All operators share the address of the forwarded port, so a lock after failures would reject
 * the right password too: each attempt is delayed instead, until it is its turn.
 */
export class Throttle {
  readonly #now: () => number;
  #next = 0;
  #checks = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** @returns the milliseconds until the attempt may be checked; undefined if too many others wait. */
  reserve(): number | undefined {
    const now = this.#now();
    const at = Math.max(this.#next, now - (burst - 1) * intervalMs);
    if (at - now > maxWaitMs || this.#checks >= maxChecks) return undefined;
    this.#next = at + intervalMs;
    return Math.max(0, at - now);
  }

  /** Runs a check after those before it: several at once would take the processor from the sender. */
  async check<T>(work: () => Promise<T>): Promise<T> {
    this.#checks += 1;
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done.finally(() => {
      this.#checks -= 1;
    });
  }

  static readonly retryAfterSeconds = maxWaitMs / 1_000;
}
