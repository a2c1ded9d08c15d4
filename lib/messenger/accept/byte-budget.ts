/** Bytes that requests may hold in memory at a time, so that a flood of uploads cannot end the process. */
export class ByteBudget {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** @returns a function that gives the bytes back, once; undefined if they are not left. */
  take(bytes: number): (() => void) | undefined {
    if (bytes > this.#left) return undefined;
    this.#left -= bytes;
    let held = bytes;
    return () => {
      this.#left += held;
      held = 0;
    };
  }
}
