import { setTimeout } from "node:timers/promises";
import type { WAVersion } from "baileys";
import { log } from "#lib/log.ts";
import { steadyNow } from "#lib/steady-clock.ts";
import { ChannelFailure } from "../channel.ts";
import type { AuthState } from "./auth-state.ts";
import type { Stateless } from "./connection-state.ts";
import type { NextStep } from "./reconnection.ts";
import type { Standing } from "./standing.ts";
import { AnnouncedVersion, isOlder, ownVersion, parseVersion } from "./web-version.ts";

/** The platform's code for a version that is too old. */
const outdated = 405;

const retryMs = 1_000;
/** A timer of 25 days or more fires at once. */
const maxTimerMs = 86_400_000;

/** Retries what must be in the database before the next login, until the signal. */
export const insist = async (what: string, work: () => Promise<void>, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    try {
      return await work();
    } catch (error) {
      log.error(`cannot ${what}`, { error });
      await setTimeout(retryMs, undefined, { signal }).catch(() => {});
    }
  }
};

export interface LoginOptions {
  readonly auth: AuthState;
  readonly standing: Standing;
  /** The page that names the current version, read after a 405 only. */
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
  /** The code that has stopped logins until an operator acts. */
  #stoppedBy: number | undefined;

  constructor(options: LoginOptions) {
    this.#options = options;
    this.#version = new AnnouncedVersion(options.standing, options.versionUrl);
  }

  /** Waits until a hold of an earlier run ends: a restart is no reason to log in. */
  async awaitHold(signal: AbortSignal): Promise<void> {
    const wait = async () => {
      const hold = await this.#options.standing.findHold();
      if (hold) await this.#wait(hold.code, hold.leftMs, signal);
    };
    await insist("read whether logins are held", wait, signal);
  }

  readVersion(): Promise<WAVersion> {
    return this.#version.read();
  }

  recordOpen(): void {
    this.#version.reset();
  }

  /** Does what must happen before the next login. @returns false if new keys are needed for it. */
  async prepare(next: NextStep, code: number | undefined, signal: AbortSignal): Promise<boolean> {
    switch (next.step) {
      case "reconnect":
        await this.#wait(code, next.afterMs, signal);
        break;
      case "wait":
        await this.#hold(code ?? 0, next.afterMs, signal);
        break;
      case "archive":
        return this.#archive(code ?? 0, next.afterMs, signal);
      case "update":
        if (await this.#version.update(signal).catch(() => false)) break;
        await this.#hold(code ?? 0, undefined, signal);
        break;
      default:
        await this.#hold(code ?? 0, undefined, signal);
    }
    return true;
  }

  async #archive(code: number, afterMs: number, signal: AbortSignal): Promise<boolean> {
    const { auth, standing, pairsByItself, show } = this.#options;
    // a pairing code that nobody has entered makes a login of an unlinked device
    const isLinked = auth.isPaired();
    if (isLinked) {
      show({ kind: "closed", code });
      await insist("archive the keys of the removed link", () => auth.archive(code), signal);
    }
    await this.#wait(code, isLinked && !pairsByItself ? undefined : afterMs, signal);
    if (isLinked && pairsByItself) await insist("release logins", () => standing.release(), signal);
    return isLinked;
  }

  async #hold(code: number, forMs: number | undefined, signal: AbortSignal): Promise<void> {
    const { standing } = this.#options;
    const stored = insist("store that logins are held", () => standing.hold(code, forMs), signal);
    await this.#wait(code, forMs, signal, stored);
  }

  /** @param forMs undefined: until an operator acts. */
  async #wait(
    code: number | undefined,
    forMs: number | undefined,
    signal: AbortSignal,
    stored?: Promise<void>,
  ): Promise<void> {
    this.#waiting = new AbortController();
    const ends = AbortSignal.any([signal, this.#waiting.signal]);
    const isStopped = forMs === undefined;
    this.#stoppedBy = isStopped ? code : undefined;
    this.#options.show(
      isStopped
        ? { kind: "stopped", code: code ?? 0 }
        : { kind: "closed", code, retryAt: new Date(Date.now() + forMs) },
    );
    const until = isStopped ? Number.POSITIVE_INFINITY : steadyNow() + forMs;
    for (let leftMs = until - steadyNow(); !ends.aborted && leftMs > 0; leftMs = until - steadyNow())
      await setTimeout(Math.min(leftMs, maxTimerMs), undefined, { signal: ends }).catch(() => {});
    this.#stoppedBy = undefined;
    await stored;
  }

  /** Ends a wait; what is in the database remains. */
  end(): void {
    this.#waiting.abort();
  }

  /**
   * Logs in again after the platform's answer has stopped logins; starts pairing if the link was archived.
   *
   * @throws ChannelFailure unless logins are stopped.
   */
  async resume(): Promise<void> {
    if (this.#stoppedBy === undefined) throw new ChannelFailure("not-connected", false);
    this.#version.reset();
    await this.#options.standing.release();
    this.end();
  }

  /**
   * Announces a version from the next login on, which is now if an older one was rejected.
   *
   * @returns false if it is no version, or older than the library's.
   */
  async setVersion(text: string): Promise<boolean> {
    const version = parseVersion(text);
    if (!version || isOlder(version, ownVersion)) return false;
    await this.#options.standing.storeVersion(version);
    if (this.#stoppedBy === outdated) await this.resume();
    return true;
  }
}
