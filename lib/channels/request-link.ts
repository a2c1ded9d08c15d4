import { EventEmitter, once } from "node:events";
import { setTimeout } from "node:timers/promises";
import type postgres from "postgres";
import type { buildConnector } from "undici";
import { log } from "#lib/log.ts";
import { type Channel, type ConnectionState, enterState, type Stateless } from "./channel.ts";

/** The platform accepts no request of the account, until an operator acts: its token or the account itself is rejected. */
export class AccountRejected extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`the platform rejects the account, code ${code}`);
    this.name = "AccountRejected";
    this.code = code;
  }
}

/** Why an account is not used outlives a restart. */
export interface LoginHolds {
  /** @param forMs undefined: until an operator acts. */
  hold(code: number, forMs: number | undefined): Promise<void>;
  release(): Promise<void>;
}

export interface RequestChannelOptions<Settings> {
  readonly sql: postgres.Sql;
  /** Reads the account's settings, cached. @throws without valid ones. */
  readonly findSettings: () => Promise<Settings>;
  /** To be told about each request. */
  readonly link: RequestLink;
  /** Aborted when the account is led no longer. */
  readonly signal: AbortSignal;
  /** Which addresses may be reached; by default only the public web. */
  readonly connector?: buildConnector.connector | undefined;
}

/** A channel that is reached by requests. */
export interface RequestChannel {
  readonly channel: Channel;
  /** @returns the number, or the name, that recipients see. @throws AccountRejected, or any error for later. */
  readonly check: (signal: AbortSignal) => Promise<string>;
}

/** Between two checks of an account that can be used, or is rejected. */
const checkEveryMs = 60_000;
const firstRetryMs = 1_000;
const longestRetryMs = 60_000;

interface Events {
  state: [ConnectionState];
  doubt: [];
}

/** Whether an account that is reached by requests can be used: what a connection is to other channels. */
export class RequestLink {
  readonly #loginHolds: LoginHolds;
  readonly #events = new EventEmitter<Events>();
  readonly #stopped = new AbortController();
  #state: ConnectionState = { kind: "closed", since: new Date() };
  /** Of the last check: it is logged when it changes. */
  #problem = "";
  /** In a row. */
  #failures = 0;
  #ended: Promise<void> = Promise.resolve();

  constructor(loginHolds: LoginHolds) {
    this.#loginHolds = loginHolds;
  }

  state(): ConnectionState {
    return this.#state;
  }

  /** @returns a function that ends the listening. */
  on(event: "state", listener: (state: ConnectionState) => void): () => void {
    this.#events.on(event, listener);
    return () => void this.#events.off(event, listener);
  }

  /** @param check returns the number, or the name, that recipients see. @throws AccountRejected, or any error for later. */
  start(check: (signal: AbortSignal) => Promise<string>): void {
    this.#ended = this.#watch(check);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#ended;
  }

  /** A request was answered: the platform is there. */
  confirm(): void {
    this.#failures = 0;
  }

  /** A request could not be made, or the account was rejected: nothing is sent before the next check. */
  doubt(): void {
    if (this.#state.kind !== "open") return;
    this.#failures += 1;
    this.#set({ kind: "closed" });
    this.#events.emit("doubt");
  }

  #set(state: Stateless): void {
    this.#state = enterState(this.#state, state);
    this.#events.emit("state", this.#state);
  }

  async #watch(check: (signal: AbortSignal) => Promise<string>): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      // not at once after a doubt: a check that succeeds says nothing about the requests that fail
      if (this.#failures > 0) await this.#wait(this.#retryMs());
      if (signal.aborted) return;
      await this.#check(check, signal);
      if (this.#state.kind !== "closed") await this.#wait(checkEveryMs);
    }
  }

  async #check(check: (signal: AbortSignal) => Promise<string>, signal: AbortSignal): Promise<void> {
    try {
      const as = await check(signal);
      this.#problem = "";
      if (this.#state.kind === "open" && this.#state.as === as) return;
      await this.#loginHolds.release();
      this.#set({ kind: "open", as });
    } catch (error) {
      if (signal.aborted) return;
      if (this.#problem !== String(error)) log.warn("an account cannot be used", { error });
      this.#problem = String(error);
      if (error instanceof AccountRejected) {
        if (this.#state.kind === "stopped" && this.#state.code === error.code) return;
        if (await this.#isHeld(error.code)) return this.#set({ kind: "stopped", code: error.code });
      }
      this.#failures += 1;
      if (this.#state.kind !== "closed") this.#set({ kind: "closed" });
    }
  }

  /** @returns false while it cannot be stored: others would give messages to the account. */
  #isHeld(code: number): Promise<boolean> {
    return this.#loginHolds.hold(code, undefined).then(
      () => true,
      () => false,
    );
  }

  #retryMs(): number {
    return Math.min(firstRetryMs * 2 ** (this.#failures - 1), longestRetryMs);
  }

  async #wait(ms: number): Promise<void> {
    const ended = new AbortController();
    const signal = AbortSignal.any([ended.signal, this.#stopped.signal]);
    await Promise.race([
      setTimeout(ms, undefined, { signal }),
      ...(this.#state.kind === "closed" ? [] : [once(this.#events, "doubt", { signal })]),
    ]).catch(() => {});
    ended.abort();
  }
}
