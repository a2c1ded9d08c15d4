import { setTimeout } from "node:timers/promises";
import type { WAVersion } from "baileys";
import { steadyNow } from "#lib/deadline.ts";
import { log } from "#lib/log.ts";
import { ChannelFailure, type Stateless } from "../../channel.ts";
import type { AuthState } from "./auth-state.ts";
import type { LoginHolds } from "./login-holds.ts";
import type { NextStep } from "./reconnection.ts";
import { AnnouncedVersion } from "./web-version.ts";

/** A timer of 25 days or more fires at once. */
const maxTimerMs = 86_400_000;

export interface LoginOptions {
  readonly auth: AuthState;
  readonly loginHolds: LoginHolds;
  readonly webVersion?: string | undefined;
  readonly versionUrl?: string | undefined;
  /** Whether pairing starts without an operator after the platform has removed the link. */
  readonly pairsByItself?: boolean | undefined;
  readonly show: (state: Stateless) => void;
}

/** Decides when the next login is tried, with which keys and which version; some of it only an operator may decide. */
export class Logins {
  readonly #options: LoginOptions;
  readonly #version: AnnouncedVersion;
  #waiting = new AbortController();
  /** Until an operator acts. */
  #isStopped = false;
  /** Until the next attempt: the platform has not asked to wait. */
  #isRetrying = false;
  /** An operator has acted. */
  #resuming: PromiseWithResolvers<void> | undefined;

  constructor(options: LoginOptions) {
    this.#options = options;
    this.#version = new AnnouncedVersion(options.webVersion, options.versionUrl);
  }

  /** Waits until a hold of an earlier run ends: a restart is no reason to log in. */
  async awaitHold(signal: AbortSignal): Promise<void> {
    const ends = this.#begin(signal);
    const wait = async () => {
      const hold = await this.#options.loginHolds.findHold();
      if (hold) await this.#wait(hold.code, hold.leftMs, ends);
    };
    await insist("read whether logins are held", wait, ends);
    await this.#release(signal);
  }

  /** The version of the web client to announce. */
  get version(): WAVersion {
    return this.#version.current;
  }

  recordOpen(): void {
    this.#version.reset();
  }

  /** Does what must happen before the next login. @returns false if new keys are needed for it. */
  async prepare(next: NextStep, code: number | undefined, signal: AbortSignal): Promise<boolean> {
    const ends = this.#begin(signal);
    switch (next.step) {
      case "reconnect":
        this.#isRetrying = true;
        await this.#wait(code, next.afterMs, ends);
        this.#isRetrying = false;
        break;
      case "wait":
        await this.#hold(code ?? 0, next.afterMs, ends);
        break;
      case "relink":
        return this.#relink(code ?? 0, next.afterMs, signal, ends);
      case "update":
        if (await this.#version.update(ends).catch(() => false)) break;
        await this.#hold(code ?? 0, undefined, ends);
        break;
      default:
        await this.#hold(code ?? 0, undefined, ends);
    }
    await this.#release(signal);
    return true;
  }

  /** @returns what ends the next wait, from now on. */
  #begin(signal: AbortSignal): AbortSignal {
    this.#waiting = new AbortController();
    return AbortSignal.any([signal, this.#waiting.signal]);
  }

  async #relink(code: number, afterMs: number, signal: AbortSignal, ends: AbortSignal): Promise<boolean> {
    const { auth, loginHolds, pairsByItself, show } = this.#options;
    // a pairing code that nobody has entered makes a login of an unlinked device
    const isLinked = auth.isPaired();
    if (isLinked) {
      show({ kind: "closed", code });
      await insist("delete the keys of the removed link", () => auth.clear(code), signal);
    }
    await this.#wait(code, isLinked && !pairsByItself ? undefined : afterMs, ends);
    if (isLinked && pairsByItself) await insist("release logins", () => loginHolds.release(), signal);
    await this.#release(signal);
    return isLinked;
  }

  /** Stores a hold while waiting; no longer than that: after the release it would block the next start. */
  async #hold(code: number, forMs: number | undefined, ends: AbortSignal): Promise<void> {
    const { loginHolds } = this.#options;
    const stored = insist("store that logins are held", () => loginHolds.hold(code, forMs), ends);
    await this.#wait(code, forMs, ends);
    await stored;
  }

  /** @param forMs undefined: until an operator acts. */
  async #wait(code: number | undefined, forMs: number | undefined, ends: AbortSignal): Promise<void> {
    if (ends.aborted) return;
    this.#isStopped = forMs === undefined;
    this.#options.show(
      forMs === undefined
        ? { kind: "stopped", code: code ?? 0 }
        : {
            kind: "closed",
            code,
            retryAt: new Date(Date.now() + forMs),
            ...(!this.#options.auth.isPaired() && { unlinked: true as const }),
          },
    );
    const until = forMs === undefined ? Number.POSITIVE_INFINITY : steadyNow() + forMs;
    for (let leftMs = until - steadyNow(); !ends.aborted && leftMs > 0; leftMs = until - steadyNow())
      await setTimeout(Math.min(leftMs, maxTimerMs), undefined, { signal: ends }).catch(() => {});
    this.#isStopped = false;
  }

  /** Releases the hold if the operator wants it, now that no other is being stored. */
  async #release(signal: AbortSignal): Promise<void> {
    if (!this.#resuming) return;
    const isReleased = await insist("release logins", () => this.#options.loginHolds.release(), signal);
    if (isReleased) this.#resuming.resolve();
    else this.#resuming.reject(new ChannelFailure("aborted", false));
    this.#resuming = undefined;
  }

  /** Ends a wait, and what precedes it; what is in the database remains. */
  end(): void {
    this.#waiting.abort();
  }

  /**
   * Logs in again after the platform's answer has stopped logins, or before the next attempt is due; starts pairing if the link
   * was removed. The end of a ban is waited for all the same.
   *
   * @throws ChannelFailure unless logins are stopped or the next attempt is waited for, or when the messenger stops meanwhile.
   */
  async resume(): Promise<void> {
    if (this.#isRetrying) return this.end();
    if (!this.#isStopped) throw new ChannelFailure("not-connected", false);
    this.#version.reset();
    this.#resuming ??= Promise.withResolvers();
    this.end();
    await this.#resuming.promise;
  }
}

const retryMs = 1_000;

/** Retries what must be in the database before the next login, until the signal. @returns whether it is. */
export const insist = async (
  what: string,
  work: () => Promise<void>,
  signal: AbortSignal,
): Promise<boolean> => {
  while (!signal.aborted) {
    try {
      await work();
      return true;
    } catch (error) {
      log.error(`cannot ${what}`, { error });
      await setTimeout(retryMs, undefined, { signal }).catch(() => {});
    }
  }
  return false;
};
