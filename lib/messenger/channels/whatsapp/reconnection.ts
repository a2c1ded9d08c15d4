export interface ReconnectionOptions {
  readonly minMs?: number;
  readonly maxMs?: number;
  /** A connection that was open this long resets the delay. */
  readonly stableMs?: number;
}

export type NextStep =
  | { readonly step: "reconnect"; readonly afterMs: number }
  /** The phone has removed the link: delete the credentials and pair again. */
  | { readonly step: "unlink"; readonly afterMs: number }
  /** Another connection with the same credentials has replaced this one. */
  | { readonly step: "yield" };

const UNLINKED = 401;
const REPLACED = 440;
const RESTART = 515;
/** Banned, client version too old, outdated kind of link: unlikely to change soon. */
const persistent = new Set([403, 405, 411, 419]);
const persistentDelayMs = 300_000;
/** Restarts requested more often than this count as failures. */
const maxImmediateRestarts = 3;

/** Decides when to reconnect: at once after a requested restart, otherwise with exponential backoff and jitter. */
export class Reconnection {
  readonly #options: Required<ReconnectionOptions>;
  readonly #random: () => number;
  #failures = 0;
  #openSince: number | undefined;

  constructor(options: ReconnectionOptions = {}, random: () => number = Math.random) {
    this.#options = { minMs: 1_000, maxMs: 60_000, stableMs: 30_000, ...options };
    this.#random = random;
  }

  recordOpen(now: number): void {
    this.#openSince = now;
  }

  /** @param code of the disconnection, if known. */
  next(code: number | undefined, now: number): NextStep {
    const wasStable = this.#openSince !== undefined && now - this.#openSince >= this.#options.stableMs;
    this.#openSince = undefined;
    if (wasStable) this.#failures = 0;
    if (code === REPLACED) return { step: "yield" };
    this.#failures += 1;
    if (code === UNLINKED) return { step: "unlink", afterMs: this.#failures === 1 ? 0 : this.#backoff() };
    if (code === RESTART && this.#failures <= maxImmediateRestarts) return { step: "reconnect", afterMs: 0 };
    if (code !== undefined && persistent.has(code)) return { step: "reconnect", afterMs: persistentDelayMs };
    return { step: "reconnect", afterMs: this.#backoff() };
  }

  #backoff(): number {
    const { minMs, maxMs } = this.#options;
    const cap = Math.min(maxMs, minMs * 2 ** Math.min(this.#failures - 1, 16));
    return cap * (0.5 + this.#random() / 2);
  }
}
