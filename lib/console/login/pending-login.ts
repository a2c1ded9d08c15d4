import { digestToken, mintToken } from "#lib/opaque-token.ts";

/** What must be remembered while an operator is at the issuer. */
export interface Attempt {
  readonly redirectUri: string;
  readonly verifier: string;
  readonly state: string;
  readonly nonce: string;
  /** By the steady clock. */
  readonly begunAt: number;
}

const maxPending = 100;

/** Logins that have begun at the issuer, each usable once. In the memory of this task. */
export class PendingLogins {
  static readonly lifetimeMs = 10 * 60 * 1_000;
  readonly #now: () => number;
  readonly #attempts = new Map<string, { readonly attempt: Attempt; readonly endsAt: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** @returns a token for the browser that began it. */
  add(attempt: Attempt): string {
    const token = mintToken("");
    const [oldest] = this.#attempts.keys();
    if (this.#attempts.size >= maxPending && oldest !== undefined) this.#attempts.delete(oldest);
    const endsAt = this.#now() + PendingLogins.lifetimeMs;
    this.#attempts.set(digestToken(token).toString("hex"), { attempt, endsAt });
    return token;
  }

  /** Removes and returns an attempt. */
  take(token: string | undefined): Attempt | undefined {
    const key = digestToken(token ?? "").toString("hex");
    const found = this.#attempts.get(key);
    this.#attempts.delete(key);
    return found && found.endsAt > this.#now() ? found.attempt : undefined;
  }
}
