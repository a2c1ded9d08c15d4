import type { BinaryNode, SignalRepository } from "baileys";
import { bytesOf, findChild, listChildren } from "./stanza.ts";

type Session = Parameters<SignalRepository["injectE2ESession"]>[0]["session"];

const numberOf = (stanza: BinaryNode | undefined) => {
  const bytes = bytesOf(stanza);
  return bytes.length === 0 ? 0 : bytes.readUIntBE(0, bytes.length);
};
/** libsignal wants the kind of key in front of it. */
const publicKey = (stanza: BinaryNode | undefined) => Buffer.concat([Buffer.from([5]), bytesOf(stanza)]);

/** The keys of a linked device, which phones open sessions with. */
export class KeyBundle {
  readonly #oneTime: BinaryNode[] = [];
  #upload: BinaryNode | undefined;
  #signed: BinaryNode | undefined;

  /** One-time keys that are left. */
  get count(): number {
    return this.#oneTime.length;
  }

  /** Keeps what a client uploads: everything, or a new signed key alone. */
  keep(iq: BinaryNode): void {
    const rotated = findChild(findChild(iq, "rotate"), "skey");
    if (rotated) {
      this.#signed = rotated;
      return;
    }
    this.#upload = iq;
    this.#signed = findChild(iq, "skey");
    this.#oneTime.push(...listChildren(findChild(iq, "list"), "key"));
  }

  /** Spends a one-time key, if one is left. */
  take(): Session {
    const [upload, signed, oneTime] = [this.#upload, this.#signed, this.#oneTime.shift()];
    if (!upload || !signed) throw new Error("the device has uploaded no keys yet");
    return {
      registrationId: numberOf(findChild(upload, "registration")),
      identityKey: publicKey(findChild(upload, "identity")),
      signedPreKey: {
        keyId: numberOf(findChild(signed, "id")),
        publicKey: publicKey(findChild(signed, "value")),
        signature: bytesOf(findChild(signed, "signature")),
      },
      ...(oneTime && {
        preKey: {
          keyId: numberOf(findChild(oneTime, "id")),
          publicKey: publicKey(findChild(oneTime, "value")),
        },
      }),
    };
  }
}
