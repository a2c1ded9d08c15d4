/** Lets a loop wait until there is work. */
export class Wakeup {
  #wake = Promise.withResolvers<void>();

  notify(): void {
    this.#wake.resolve();
    this.#wake = Promise.withResolvers<void>();
  }

  /** Resolves on the next `notify()`, after `maxMs`, or when the signal is aborted. */
  async wait(maxMs: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { promise } = this.#wake;
    const ended = Promise.withResolvers<void>();
    const end = () => ended.resolve();
    const timer = setTimeout(end, maxMs);
    signal.addEventListener("abort", end, { once: true });
    await Promise.race([promise, ended.promise]);
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
}
