import { ChannelFailure, type Stateless } from "../../channel.ts";
import type { AuthState } from "./auth-state.ts";
import type { LoginHolds } from "./login-holds.ts";
import { insist } from "./logins.ts";

export interface LinkOptions {
  readonly auth: AuthState;
  readonly loginHolds: LoginHolds;
  readonly show: (state: Stateless) => void;
}

/** The link with the account's phone. It is changed only while no connection uses its keys. */
export class Link {
  readonly #options: LinkOptions;
  #clearing: PromiseWithResolvers<void> | undefined;
  #cleared: Promise<void> | undefined;
  #demandsPasskey = false;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  /** Whether a phone was linked. */
  get isPaired(): boolean {
    return this.#options.auth.isPaired();
  }

  /** Whether new keys were requested, and wait for the connection to end. */
  get mustChange(): boolean {
    return this.#clearing !== undefined;
  }

  /** Whether linking demands a passkey: until a phone is linked, or the operator unlinks. */
  get demandsPasskey(): boolean {
    return this.#demandsPasskey;
  }

  recordPasskey(): void {
    this.#demandsPasskey = true;
  }

  recordLogin(): void {
    if (this.isPaired) this.#demandsPasskey = false;
  }

  /** Requests new keys in place of those that the platform rejects. */
  renew(): Promise<void> {
    if (!this.#clearing) {
      this.#clearing = Promise.withResolvers();
      // it may have no listener
      this.#clearing.promise.catch(() => {});
    }
    return this.#clearing.promise;
  }

  /** Requests new keys because the operator removes the link. */
  remove(): Promise<void> {
    this.#demandsPasskey = false;
    return this.renew();
  }

  /** Makes the requested change. */
  async change(signal: AbortSignal): Promise<void> {
    await insist("delete the keys of the unlinked device", () => this.clear(), signal);
  }

  /** Deletes the keys at once. A second call waits for the first: its new credentials would replace those in use. */
  clear(): Promise<void> {
    this.#cleared ??= this.#clear().finally(() => {
      this.#cleared = undefined;
    });
    return this.#cleared;
  }

  async #clear(): Promise<void> {
    await this.#options.auth.clear();
    await this.#options.loginHolds.release();
    this.#clearing?.resolve();
    this.#clearing = undefined;
    this.#options.show({ kind: "unpaired" });
  }

  /** Rejects a request that was not carried out. */
  abandon(): void {
    this.#clearing?.reject(new ChannelFailure("aborted", false));
    this.#clearing = undefined;
  }
}
