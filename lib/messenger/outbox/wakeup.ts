/** Lets a loop wait until there is work. */
export class Wakeup {
  // not one promise for all: it would hold every wait until the next message is accepted
  readonly #waiting = new Set<() => void>();
  /** A message that was accepted while the loop looked for one, and not yet saw it. */
  #missed = false;

  notify(): void {
    this.#missed ||= this.#waiting.size === 0;
    for (const wake of this.#waiting) wake();
  }

  /** Resolves on the next `notify()`, at once if nobody waited for the last one, after `maxMs`, or when the signal is aborted. */
  async wait(maxMs: number, signal: AbortSignal): Promise<void> {
    const missed = this.#missed;
    this.#missed = false;
    if (missed || signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = () => resolve();
    this.#waiting.add(wake);
    const timer = setTimeout(wake, maxMs);
    signal.addEventListener("abort", wake, { once: true });
    await promise;
    this.#waiting.delete(wake);
    clearTimeout(timer);
    signal.removeEventListener("abort", wake);
  }
}
