import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren } from "baileys";
import { element } from "./wire/stanza.ts";

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
