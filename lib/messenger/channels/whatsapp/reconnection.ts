/** How long to wait before the next connection. */
export interface ReconnectionOptions {
  readonly minMs?: number;
  readonly maxMs?: number;
  /** A connection that was open for so long is stable: the next wait is short again. */
  readonly stableMs?: number;
}

/** What to do after a connection has ended. */
export type NextStep =
  | { readonly step: "reconnect"; readonly afterMs: number }
  /** The phone has unlinked this session: everything begins anew. */
  | { readonly step: "forget"; readonly afterMs: number }
  /** Another connection of the same session took this one's place. */
  | { readonly step: "yield" };

const UNLINKED = 401;
const REPLACED = 440;
const RESTART = 515;
/** Banned, this version too old, linked in a way that is no more: nothing that time mends soon. */
const lasting = new Set([403, 405, 411, 419]);
const lastingMs = 300_000;
/** A restart that is asked for again and again is an error as any other. */
const restartsAtOnce = 3;

/** Says when to connect again: at once where it is asked for, else after waits that grow, with jitter. */
export class Reconnection {
  readonly #minMs: number;
  readonly #maxMs: number;
  readonly #stableMs: number;
  readonly #random: () => number;
  #failures = 0;
  #openSince: number | undefined;

  constructor(options: ReconnectionOptions = {}, random: () => number = Math.random) {
    this.#minMs = options.minMs ?? 1_000;
    this.#maxMs = options.maxMs ?? 60_000;
    this.#stableMs = options.stableMs ?? 30_000;
    this.#random = random;
  }

  noteOpen(now: number): void {
    this.#openSince = now;
  }

  /** @param code of the ending; undefined where nothing is known. */
  next(code: number | undefined, now: number): NextStep {
    const wasStable = this.#openSince !== undefined && now - this.#openSince >= this.#stableMs;
    this.#openSince = undefined;
    if (wasStable) this.#failures = 0;
    if (code === REPLACED) return { step: "yield" };
    this.#failures += 1;
    if (code === UNLINKED) return { step: "forget", afterMs: this.#failures === 1 ? 0 : this.#wait() };
    if (code === RESTART && this.#failures <= restartsAtOnce) return { step: "reconnect", afterMs: 0 };
    if (code !== undefined && lasting.has(code)) return { step: "reconnect", afterMs: lastingMs };
    return { step: "reconnect", afterMs: this.#wait() };
  }

  #wait(): number {
    const cap = Math.min(this.#maxMs, this.#minMs * 2 ** Math.min(this.#failures - 1, 16));
    return cap * (0.5 + this.#random() / 2);
  }
}
