import { setTimeout } from "node:timers/promises";
import type { Lane, Outgoing } from "../outbox/message.ts";

/**
 * How many messages of each lane may be under way at once. An upload takes minutes, and an answer up to 30 s: neither
 * may delay a one-time code, and some codes to numbers that do not answer must not delay the others.
 */
export const widths: Readonly<Record<Lane, number>> = { code: 4, other: 1, upload: 1 };

/** A message that takes longer does not delay the other lanes. Nearly all take less: then no query is made meanwhile. */
const slowMs = 250;

/** The messages under way, each from when it is taken until its outcome is stored. */
export class Lanes {
  readonly #underWay = new Map<string, { readonly lane: Lane; readonly ended: Promise<void> }>();
  readonly #onEnd: () => void;

  /** @param onEnd is called when a lane becomes free. */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  get ids(): string[] {
    return [...this.#underWay.keys()];
  }

  listFree(): Lane[] {
    const used = [...this.#underWay.values()];
    return (Object.keys(widths) as Lane[]).filter(
      (lane) => used.filter((message) => message.lane === lane).length < widths[lane],
    );
  }

  /** Follows the delivery of a message; returns when it has ended or turns out to be slow. */
  async follow({ id, lane }: Outgoing, delivery: Promise<void>): Promise<void> {
    const ended = delivery.finally(() => {
      this.#underWay.delete(id);
      this.#onEnd();
    });
    this.#underWay.set(id, { lane, ended });
    await Promise.race([ended, setTimeout(slowMs, undefined, { ref: false })]);
  }

  async end(): Promise<void> {
    await Promise.allSettled([...this.#underWay.values()].map(({ ended }) => ended));
  }
}
