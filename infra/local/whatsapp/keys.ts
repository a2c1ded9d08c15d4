import {
  addTransactionCapability,
  type BinaryNode,
  type DEFAULT_CONNECTION_CONFIG,
  getBinaryNodeChild,
  getBinaryNodeChildren,
  type SignalKeyStoreWithTransaction,
} from "baileys";
import { element } from "./wire/stanza.ts";

/** Discards the library's log: a phone records its failures itself. */
export const silent: typeof DEFAULT_CONNECTION_CONFIG.logger = {
  level: "silent",
  child: () => silent,
  trace() {},
  debug() {},
  info() {},
  warn() {},
  error() {},
};

/** Creates a store of Signal keys in memory. */
export const createKeyStore = (): SignalKeyStoreWithTransaction => {
  const stored: Record<string, Record<string, unknown>> = {};
  return addTransactionCapability(
    {
      get: async (type, ids) =>
        Object.fromEntries(
          ids.flatMap((id) => (stored[type]?.[id] == null ? [] : [[id, stored[type][id]]])),
        ) as never,
      set: async (changes) => {
        for (const [type, entries] of Object.entries(changes)) {
          stored[type] ??= {};
          Object.assign(stored[type], entries);
        }
      },
    },
    silent,
    { maxCommitRetries: 1, delayBetweenTriesMs: 1 },
  );
};

/** The public keys of a linked device, with which phones start sessions. */
export class KeyBundle {
  readonly #oneTime: BinaryNode[] = [];
  #upload: BinaryNode | undefined;
  #signed: BinaryNode | undefined;

  /** Number of unused one-time keys. */
  get count(): number {
    return this.#oneTime.length;
  }

  /** Stores what a client uploads: all keys, or a new signed key only. */
  store(iq: BinaryNode): void {
    const rotated = getBinaryNodeChild(getBinaryNodeChild(iq, "rotate"), "skey");
    this.#signed = rotated ?? getBinaryNodeChild(iq, "skey");
    if (rotated) return;
    this.#upload = iq;
    this.#oneTime.push(...getBinaryNodeChildren(getBinaryNodeChild(iq, "list"), "key"));
  }

  /** Returns the keys as the reply to a query for them. Uses up a one-time key, if one is left. */
  take(jid: string): BinaryNode {
    const registration = getBinaryNodeChild(this.#upload, "registration");
    const identity = getBinaryNodeChild(this.#upload, "identity");
    if (!registration || !identity || !this.#signed) throw new Error("the device has not uploaded its keys");
    const oneTime = this.#oneTime.splice(0, 1);
    const user = element("user", { jid }, [registration, identity, this.#signed, ...oneTime]);
    return element("iq", {}, [element("list", {}, [user])]);
  }
}
