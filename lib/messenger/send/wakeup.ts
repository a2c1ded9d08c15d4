/** Lets a loop sleep until there is something to do. */
export class Wakeup {
  #wake = Promise.withResolvers<void>();

  notify(): void {
    this.#wake.resolve();
    this.#wake = Promise.withResolvers<void>();
  }

  /** Resolves with the next `notify()`, after the time, or when the signal aborts. */
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
