const windowMs = 5 * 60 * 1_000;
const maxFailures = 5;
const maxAddresses = 1_000;

/**
 * Counts failed logins by address. There is no count over all addresses: whoever reaches the port could lock
 * the operator out with it, and the passwords are random.
 */
export class Throttle {
  readonly #now: () => number;
  readonly #failures = new Map<string, number[]>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Counts an attempt as failed until it is forgiven, so that many at the same time do not all slip through.
   *
   * @returns the seconds to wait, 0 when the attempt may go on.
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

  /** The last attempt was none: it succeeded, or could not be judged. */
  forgive(address: string): void {
    this.#failures.get(address)?.pop();
  }
}
