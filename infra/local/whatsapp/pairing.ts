import { createHmac, randomBytes } from "node:crypto";
import { type BinaryNode, Curve, getBinaryNodeChild, proto } from "baileys";
import { verifySignature } from "#lib/channels/whatsapp/library-log.ts";
import type { Connection } from "./connection.ts";
import { LinkCode } from "./link-code.ts";
import type { Account, Device } from "./phone-account.ts";
import { bytesOf, element, secondsNow, serverJid } from "./wire/stanza.ts";

const accountPrefix = Buffer.from([6, 0]);
const devicePrefix = Buffer.from([6, 1]);
/** The client shows one QR code after another; WhatsApp also sends six. */
const refs = 6;

/** A client that is being linked by a QR code or a pairing code. */
export class Pairing {
  readonly #connection: Connection;
  #account: Account;
  readonly #identityKey: Buffer;
  readonly #demandsPasskey: boolean;
  readonly #refs = Array.from({ length: refs }, () => `2@${randomBytes(24).toString("base64url")}`);
  #code: LinkCode | undefined;
  #offered: { id: number; details: Uint8Array; linked: (device: Device) => void } | undefined;

  /** @param demandsPasskey whether a scan or a code is not enough. */
  constructor(
    connection: Connection,
    account: Account,
    payload: proto.ClientPayload,
    demandsPasskey: boolean,
  ) {
    this.#connection = connection;
    this.#account = account;
    this.#identityKey = Buffer.from(payload.devicePairingData?.eIdent ?? []);
    this.#demandsPasskey = demandsPasskey;
  }

  /** Sends the client the references for its QR codes. */
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

  /** Whether the client shows a pairing code. */
  get awaitsCode(): boolean {
    return this.#connection.isOpen && this.#code !== undefined;
  }

  /** Links the client by its QR code, to the account whose phone has scanned it. */
  scan(clientKey: string, identityKey: string, secret: string, account: Account): Promise<Device> {
    this.#account = account;
    if (clientKey !== this.#connection.clientKey) throw new Error("the QR code has another client's key");
    if (identityKey !== this.#identityKey.toString("base64"))
      throw new Error("the QR code has another client's identity key");
    return this.#confirm(Buffer.from(secret, "base64"));
  }

  /** Handles a client's request to pair by code. @returns the content of the reply. */
  showCode(hello: BinaryNode): BinaryNode[] {
    const wrapped = bytesOf(getBinaryNodeChild(hello, "link_code_pairing_wrapped_companion_ephemeral_pub"));
    const clientKey = bytesOf(getBinaryNodeChild(hello, "companion_server_auth_key_pub")).toString("base64");
    if (clientKey !== this.#connection.clientKey)
      throw new Error("the pairing code has another client's key");
    this.#code = new LinkCode(wrapped, this.#account.phone.identity);
    const ref = element("link_code_pairing_ref", {}, this.#code.ref);
    return [element("link_code_companion_reg", { stage: "companion_hello" }, [ref])];
  }

  /** Links the client by the entered code. Rejects if it is not the one that the client shows. */
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

  /** Handles the client's reply to an entered code. @returns whether the code was correct. */
  finishCode(finish: BinaryNode): boolean {
    if (!this.#code) throw new Error("no code was shown");
    return this.#code.finish(finish, this.#identityKey);
  }

  /** Asks the client for an assertion of the account's passkey: the options of WebAuthn, in JSON (Baileys #2672). */
  #demandPasskey(): never {
    const options = {
      challenge: randomBytes(32).toString("base64url"),
      rpId: "whatsapp.com",
      timeout: 600_000,
      userVerification: "required",
    };
    const attrs = {
      from: serverJid,
      type: "passkey_prologue_request",
      id: randomBytes(4).toString("hex"),
      t: secondsNow(),
    };
    const content = [element("passkey_request_options", {}, Buffer.from(JSON.stringify(options)))];
    this.#connection.send(element("notification", attrs, content));
    throw new Error("the phone shows: continue on WhatsApp Web, with the passkey");
  }

  /** Sends the client the account's signature. The client must sign it in return to be linked. */
  async #confirm(secret: Buffer): Promise<Device> {
    if (this.#demandsPasskey) this.#demandPasskey();
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

  /** Verifies the client's signature and links the client, which must then reconnect. */
  accept(reply: BinaryNode): void {
    const identity = getBinaryNodeChild(getBinaryNodeChild(reply, "pair-device-sign"), "device-identity");
    if (!identity || !this.#offered) return;
    const { id, details, linked } = this.#offered;
    const { deviceSignature } = proto.ADVSignedDeviceIdentity.decode(bytesOf(identity));
    const { identity: account } = this.#account.phone;
    const message = Buffer.concat([devicePrefix, details, this.#identityKey, account.public]);
    if (!deviceSignature || !verifySignature(this.#identityKey, message, deviceSignature))
      throw new Error("the client's device signature is invalid");
    this.#offered = undefined;
    linked(this.#account.link(this.#connection.clientKey, id, this.#identityKey));
    this.#connection.end(element("stream:error", { code: "515" }));
  }
}
