import type { Outgoing } from "./message.ts";

/** Remembers when each sender was last served at each priority. In memory: a new leader starts a new round. */
export class Rotation {
  readonly #servedAt = new Map<string, number>();
  #taken = 0;

  recordTaken({ priority, sender }: Pick<Outgoing, "priority" | "sender">): void {
    this.#taken += 1;
    this.#servedAt.set(`${priority} ${sender}`, this.#taken);
  }

  /** @returns the number of the last message of each sender, by priority and sender. */
  toJSON(): Record<string, number> {
    return Object.fromEntries(this.#servedAt);
  }
}
