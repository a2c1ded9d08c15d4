import { createHmac, randomBytes } from "node:crypto";
import { type BinaryNode, Curve, proto } from "baileys";
import { verifySignature } from "#lib/messenger/channels/whatsapp/signature.ts";
import type { Account, Device } from "./account.ts";
import type { Connection } from "./connection.ts";
import { LinkCode } from "./link-code.ts";
import { bytesOf, element, findChild, secondsNow, serverJid } from "./stanza.ts";

const accountPrefix = Buffer.from([6, 0]);
const devicePrefix = Buffer.from([6, 1]);
/** As many as WhatsApp gives: the client shows one after the other. */
const refs = 6;

/** A client that is not linked yet, and waits for the account's phone to scan its code or type its letters. */
export class Pairing {
  readonly #connection: Connection;
  readonly #account: Account;
  readonly #identityKey: Buffer;
  readonly #refs = Array.from({ length: refs }, () => `2@${randomBytes(24).toString("base64url")}`);
  #code: LinkCode | undefined;
  #offered: { id: number; details: Uint8Array; linked: (device: Device) => void } | undefined;

  constructor(connection: Connection, account: Account, payload: proto.ClientPayload) {
    this.#connection = connection;
    this.#account = account;
    this.#identityKey = Buffer.from(payload.devicePairingData?.eIdent ?? []);
  }

  /** Gives the client what its QR codes are made of. */
  offer(): void {
    const content = this.#refs.map((ref) => element("ref", {}, Buffer.from(ref)));
    this.#set("pair-device", content);
  }

  #set(tag: string, content: BinaryNode[]) {
    const id = randomBytes(4).toString("hex");
    const attrs = { from: serverJid, type: "set", xmlns: "md", id, t: secondsNow() };
    this.#connection.send(element("iq", attrs, [element(tag, {}, content)]));
  }

  owns(ref: string): boolean {
    return this.#connection.isOpen && this.#refs.includes(ref);
  }

  /** A code was shown for the phone to type. */
  get awaitsCode(): boolean {
    return this.#connection.isOpen && this.#code !== undefined;
  }

  /** The phone scanned a QR code of this client. */
  scan(clientKey: string, identityKey: string, secret: string): Promise<Device> {
    if (clientKey !== this.#connection.clientKey) throw new Error("the QR code's client key is another one");
    if (identityKey !== this.#identityKey.toString("base64"))
      throw new Error("the QR code's identity key is another one");
    return this.#confirm(Buffer.from(secret, "base64"));
  }

  /** The client shows a pairing code. @returns the answer's content. */
  showCode(hello: BinaryNode): BinaryNode[] {
    const wrapped = bytesOf(findChild(hello, "link_code_pairing_wrapped_companion_ephemeral_pub"));
    const clientKey = bytesOf(findChild(hello, "companion_server_auth_key_pub")).toString("base64");
    if (clientKey !== this.#connection.clientKey) throw new Error("the code's client key is another one");
    this.#code = new LinkCode(wrapped, this.#account.phone.identity);
    const ref = element("link_code_pairing_ref", {}, this.#code.ref);
    return [element("link_code_companion_reg", { stage: "companion_hello" }, [ref])];
  }

  /** The phone's owner typed the code. Rejects when it is not the one that the client shows. */
  async enterCode(typed: string): Promise<Device> {
    if (!this.#code) throw new Error("no code was shown");
    const { greeting, finished } = await this.#code.greet(typed);
    const attrs = {
      from: serverJid,
      type: "link_code_companion_reg",
      id: randomBytes(4).toString("hex"),
      t: secondsNow(),
    };
    this.#connection.send(element("notification", attrs, [greeting]));
    return this.#confirm(await finished);
  }

  /** The client answers the code that was typed. @returns whether it was the one that it shows. */
  finishCode(finish: BinaryNode): boolean {
    if (!this.#code) throw new Error("no code was shown");
    return this.#code.finish(finish, this.#identityKey);
  }

  /** Vouches for the client; it has to sign in return before it is linked. */
  #confirm(secret: Buffer): Promise<Device> {
    const { phone } = this.#account;
    const id = this.#account.reserve();
    const timestamp = Math.floor(Date.now() / 1_000);
    const details = proto.ADVDeviceIdentity.encode({ rawId: 1, timestamp, keyIndex: id }).finish();
    const signed = proto.ADVSignedDeviceIdentity.encode({
      details,
      accountSignatureKey: phone.identity.public,
      accountSignature: Curve.sign(
        phone.identity.private,
        Buffer.concat([accountPrefix, details, this.#identityKey]),
      ),
    }).finish();
    const hmac = createHmac("sha256", secret).update(signed).digest();
    const vouched = proto.ADVSignedDeviceIdentityHMAC.encode({ details: signed, hmac }).finish();
    return new Promise((linked) => {
      this.#offered = { id, details, linked };
      this.#set("pair-success", [
        element("device-identity", {}, vouched),
        element("platform", { name: "android" }),
        element("device", {
          jid: `${phone.number}:${id}@s.whatsapp.net`,
          lid: `${phone.lid}:${id}@lid`,
        }),
      ]);
    });
  }

  /** The client's own signature came: it is linked, and has to connect anew. */
  accept(reply: BinaryNode): void {
    const identity = findChild(findChild(reply, "pair-device-sign"), "device-identity");
    if (!identity || !this.#offered) return;
    const { id, details, linked } = this.#offered;
    const { deviceSignature } = proto.ADVSignedDeviceIdentity.decode(bytesOf(identity));
    const { identity: account } = this.#account.phone;
    const message = Buffer.concat([devicePrefix, details, this.#identityKey, account.public]);
    if (!deviceSignature || !verifySignature(this.#identityKey, message, deviceSignature))
      throw new Error("the client's device signature is not its own");
    this.#offered = undefined;
    linked(this.#account.link(this.#connection.clientKey, id, this.#identityKey));
    this.#connection.end(element("stream:error", { code: "515" }));
  }
}
