import { log } from "#lib/log.ts";
import { ChannelFailure } from "../../channel.ts";
import type { Stateless } from "../../connection-state.ts";
import type { AuthState } from "./auth-state.ts";
import { insist } from "./insist.ts";
import type { Standing } from "./standing.ts";

export interface LinkOptions {
  readonly auth: AuthState;
  readonly standing: Standing;
  readonly show: (state: Stateless) => void;
}

/** A change that must be made. Its promise may have no listener. */
const request = <T>(): PromiseWithResolvers<T> => {
  const requested = Promise.withResolvers<T>();
  requested.promise.catch(() => {});
  return requested;
};

/** The link with the account's phone. It is changed only while no connection uses its keys. */
export class Link {
  readonly #options: LinkOptions;
  #clearing: PromiseWithResolvers<void> | undefined;
  #restoring: PromiseWithResolvers<boolean> | undefined;
  #cleared: Promise<void> | undefined;
  #demandsPasskey = false;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  /** Whether a phone was linked. */
  get isPaired(): boolean {
    return this.#options.auth.isPaired();
  }

  /** Whether a change waits for the connection to end. */
  get mustChange(): boolean {
    return this.#clearing !== undefined || this.#restoring !== undefined;
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
    this.#clearing ??= request();
    return this.#clearing.promise;
  }

  /** Requests new keys because the operator removes the link. */
  remove(): Promise<void> {
    this.#demandsPasskey = false;
    return this.renew();
  }

  /** Requests the archived keys in place of those of an unlinked device. @returns false if none are archived. */
  restore(): Promise<boolean> {
    this.#restoring ??= request();
    return this.#restoring.promise;
  }

  /** Makes the requested changes. */
  async change(signal: AbortSignal): Promise<void> {
    if (this.#clearing) await insist("delete the keys of the unlinked device", () => this.clear(), signal);
    if (this.#restoring && !signal.aborted) await this.#restore(this.#restoring, signal);
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
    await this.#options.standing.release();
    this.#clearing?.resolve();
    this.#clearing = undefined;
    this.#options.show({ kind: "unpaired" });
  }

  async #restore({ resolve, reject }: PromiseWithResolvers<boolean>, signal: AbortSignal): Promise<void> {
    const { auth } = this.#options;
    // a phone may have been linked since the request
    if (this.isPaired) reject(new ChannelFailure("not-connected", false));
    else
      try {
        resolve(await auth.restore());
      } catch (error) {
        log.error("cannot restore the archived link", { error });
        // if only the answer to the commit was lost, new credentials would overwrite the restored ones
        await insist("read the credentials again", () => auth.reload(), signal);
        if (this.isPaired) resolve(true);
        else reject(error);
      }
    this.#restoring = undefined;
  }

  /** Rejects requests that were not carried out. */
  abandon(): void {
    const aborted = new ChannelFailure("aborted", false);
    this.#clearing?.reject(aborted);
    this.#restoring?.reject(aborted);
    this.#clearing = undefined;
    this.#restoring = undefined;
  }
}
