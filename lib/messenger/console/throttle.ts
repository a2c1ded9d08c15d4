const windowMs = 5 * 60 * 1_000;
const maxFailures = 5;
const maxAddresses = 1_000;

/**
 * Rate-limits failed logins by address. There is no limit over all addresses: anyone who can reach the port could
 * lock the operator out with it, and the passwords are random.
 */
export class Throttle {
  readonly #now: () => number;
  readonly #failures = new Map<string, number[]>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Counts an attempt as failed until `forgive` is called, so that concurrent attempts are limited too.
   *
   * @returns the seconds to wait; 0 if the attempt is allowed.
   */
  begin(address: string): number {
    const now = this.#now();
    const recent = (this.#failures.get(address) ?? []).filter((at) => at > now - windowMs);
    const first = recent.at(-maxFailures);
    if (first !== undefined) return Math.ceil((first + windowMs - now) / 1_000);
    this.#failures.delete(address);
    const [oldest] = this.#failures.keys();
    if (this.#failures.size >= maxAddresses && oldest !== undefined) this.#failures.delete(oldest);
    this.#failures.set(address, [...recent, now]);
    return 0;
  }

  /** Uncounts the last attempt: it succeeded, or could not be checked. */
  forgive(address: string): void {
    this.#failures.get(address)?.pop();
  }
}
