import { findDisconnection } from "../codes.ts";

export interface ReconnectionOptions {
  readonly minMs?: number;
  readonly maxMs?: number;
  /** A connection that was open this long resets the delay. */
  readonly stableMs?: number;
}

/** Why a connection ended. */
export interface Disconnection {
  /** Of baileys' `DisconnectReason` or of the platform, if any. */
  readonly code: number | undefined;
  /** How long the platform accepts no login (402). */
  readonly expireSeconds?: number | undefined;
}

export type NextStep =
  | { readonly step: "reconnect"; readonly afterMs: number }
  /** No login before the time is over, also after a restart. */
  | { readonly step: "wait"; readonly afterMs: number }
  /** The version is too old: look up the current one. */
  | { readonly step: "update" }
  /** The platform has removed the link: delete its keys, and let the operator pair again. */
  | { readonly step: "relink"; readonly afterMs: number }
  /** No login until an operator acts, also after a restart. */
  | { readonly step: "stop" }
  /** Another connection with the same credentials has replaced this one. */
  | { readonly step: "yield" };

const slowDelayMs = 300_000;
/** If the platform names no end of a ban. */
const defaultWaitMs = 3_600_000;
/** Restarts requested more often than this count as failures. */
const maxImmediateRestarts = 3;

/** Decides what follows a disconnection; delays between retries grow exponentially, with jitter. */
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

  next({ code, expireSeconds }: Disconnection, now: number): NextStep {
    const wasStable = this.#openSince !== undefined && now - this.#openSince >= this.#options.stableMs;
    this.#openSince = undefined;
    if (wasStable) this.#failures = 0;
    const { reaction } = findDisconnection(code);
    if (reaction === "yield") return { step: "yield" };
    this.#failures += 1;
    switch (reaction) {
      case "restart":
        return {
          step: "reconnect",
          afterMs: this.#failures <= maxImmediateRestarts ? 0 : this.#backoff(),
        };
      case "retry":
        return { step: "reconnect", afterMs: this.#backoff() };
      case "retry-slowly":
        return { step: "reconnect", afterMs: slowDelayMs };
      case "wait":
        return { step: "wait", afterMs: expireSeconds ? expireSeconds * 1_000 : defaultWaitMs };
      case "relink":
        return { step: "relink", afterMs: this.#failures === 1 ? 0 : this.#backoff() };
      default:
        return { step: reaction };
    }
  }

  #backoff(): number {
    const { minMs, maxMs } = this.#options;
    const cap = Math.min(maxMs, minMs * 2 ** Math.min(this.#failures - 1, 16));
    return cap * (0.5 + this.#random() / 2);
  }
}
