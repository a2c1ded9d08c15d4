import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren } from "baileys";
import { ackDelayOf, type Behaviour, nackOf, type Receipt, spend } from "./behaviour.ts";
import type { Connection } from "./connection.ts";
import { nackOfAddress, receiptAddress } from "./contacts.ts";
import type { NewChatLimits } from "./new-chats.ts";
import type { Phone } from "./phone.ts";
import type { Account, Device } from "./phone-account.ts";
import type { PrivacyTokens } from "./privacy-tokens.ts";
import type { Knowledge } from "./queries.ts";
import type { Directory } from "./registered-numbers.ts";
import { bytesOf, element, secondsNow, userOf } from "./wire/stanza.ts";

/** As in the client. */
const maxRetries = 5;
/** The error code for a number without an account. */
const noAccount = 404;
/** The error code for a message to a device that is no longer linked (whatsmeow #922). */
const outdatedDevices = 479;

/** The sender of a message and the address of its receipts. */
interface Sent {
  readonly device: Device;
  readonly to: string;
}

interface DeliveryOptions extends Pick<Knowledge, "account" | "directory" | "tokens" | "newChats"> {
  readonly behaviour: () => Behaviour;
  readonly changed: () => void;
}

/** Delivers messages to phones and sends acks and receipts, according to the behaviour. */
export class Delivery {
  readonly #account: Account;
  readonly #directory: Directory;
  readonly #tokens: PrivacyTokens;
  readonly #newChats: NewChatLimits;
  readonly #behaviour: () => Behaviour;
  readonly #changed: () => void;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #sent = new Map<string, Sent>();
  /** The address of each frame with a message ID, delivered or not. */
  readonly arrivals = new Map<string, string[]>();
  /** How often devices and keys of a number had been queried when a message to it was rejected as stale. */
  readonly #stale = new Map<string, Phone["queries"]>();
  #order = 0;

  constructor({ account, directory, tokens, newChats, behaviour, changed }: DeliveryOptions) {
    this.#account = account;
    this.#directory = directory;
    this.#tokens = tokens;
    this.#newChats = newChats;
    this.#behaviour = behaviour;
    this.#changed = changed;
  }

  async deliver(connection: Connection, device: Device, message: BinaryNode): Promise<void> {
    const { id = "", to = "" } = message.attrs;
    const behaviour = this.#behaviour();
    this.arrivals.set(id, [...(this.arrivals.get(id) ?? []), to]);
    if (spend(behaviour, "dropUndelivered")) return connection.drop();
    const recipient = this.#directory.find(to);
    const ackDelayMs = ackDelayOf(behaviour, recipient?.number);
    const nack = recipient ? this.#nackOf(message, recipient) : noAccount;
    if (nack) return this.#after(ackDelayMs, () => this.#acknowledge(connection, id, to, nack));

    if (recipient) this.#newChats.record(recipient.number);
    this.#sent.set(id, { device, to: recipient ? receiptAddress(behaviour.contacts, to, recipient) : to });
    const readable = await this.#hand(message, device, recipient);
    if (spend(behaviour, "dropBeforeAck")) connection.drop();
    else if (behaviour.ack) {
      // 1 ms: after the receipts, which are then sent without a delay
      const late = behaviour.receiptsBeforeAck ? Math.max(ackDelayMs, 1) : ackDelayMs;
      this.#after(late, () => this.#acknowledge(connection, id, to));
    }
    const wait = behaviour.receiptsBeforeAck ? 0 : ackDelayMs;
    if (readable)
      for (const [index, receipt] of behaviour.receipts.entries())
        this.#after(wait + behaviour.receiptDelayMs * (index + 1), () => this.sendReceipts(id, [receipt]));
    else if (behaviour.askAgainOnFailure || readable === undefined)
      this.#after(wait, () => void this.askAgain(id).catch(() => {}));
  }

  #nackOf(message: BinaryNode, recipient: Phone): number | undefined {
    const { number, queries } = recipient;
    const behaviour = this.#behaviour();
    const { stale } = behaviour;
    if (stale && (stale.to ?? number) === number) {
      const before = this.#stale.get(number);
      const isFresh = before && queries.devices > before.devices && queries.keys > before.keys;
      if (!before) this.#stale.set(number, { ...queries });
      if (!isFresh) return stale.code;
    }
    const copies = getBinaryNodeChildren(getBinaryNodeChild(message, "participants"), "to");
    if (copies.some(({ attrs: { jid = "" } }) => !this.#isLinked(jid))) return outdatedDevices;
    const nack =
      nackOf(behaviour, number) ??
      nackOfAddress(behaviour.contacts, message.attrs.to ?? "") ??
      this.#newChats.nackOf(number);
    // a message that is repeated for one device has no list, and needs no token
    const demand = getBinaryNodeChild(message, "participants") && behaviour.tokens;
    if (nack || !demand) return nack;
    return this.#tokens.nackOf(demand, message, recipient);
  }

  #isLinked(device: string): boolean {
    const { devices } = this.#account;
    return this.#directory.findDevice(device) !== undefined || devices.some(({ lid }) => lid === device);
  }

  /**
   * Delivers each phone its copy, the account's own phone included.
   * @returns whether the recipient could read it; undefined if it only pretends that it could not.
   */
  async #hand(
    message: BinaryNode,
    device: Device,
    recipient: Phone | undefined,
  ): Promise<boolean | undefined> {
    const { id = "", to = "" } = message.attrs;
    const copies = getBinaryNodeChild(message, "participants");
    // a message that is repeated for one device has no list
    const parts = copies
      ? getBinaryNodeChildren(copies, "to")
      : [element("to", { jid: to }, getBinaryNodeChildren(message, "enc"))];
    const order = ++this.#order;
    let readable: boolean | undefined = false;
    for (const part of parts) {
      const phone = this.#directory.findDevice(part.attrs.jid ?? "");
      const encrypted = getBinaryNodeChild(part, "enc");
      if (!phone || !encrypted) continue;
      const mine = phone === recipient;
      if (mine && spend(this.#behaviour(), "askAgain")) {
        readable = undefined;
        continue;
      }
      if (mine && spend(this.#behaviour(), "loseSession")) await phone.loseSession(device.lid);
      const { type = "" } = encrypted.attrs;
      const incoming = { id, from: device.lid, type, ciphertext: bytesOf(encrypted), order };
      const received = await phone.receive(incoming);
      if (mine) readable = received;
    }
    this.#changed();
    return readable;
  }

  #acknowledge(connection: Connection, id: string, to: string, error?: number) {
    const known = to.endsWith("@lid") ? this.#directory.find(to)?.lid : undefined;
    const refresh = known !== undefined && known !== userOf(to) && { refresh_lid: "true" };
    const attrs = { class: "message", id, from: to, t: secondsNow(), ...refresh };
    connection.send(element("ack", error ? { ...attrs, error: String(error) } : attrs));
  }

  #after(delayMs: number, act: () => void) {
    if (delayMs === 0) return act();
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      act();
    }, delayMs);
    this.#timers.add(timer);
  }

  #getSent(id: string): Sent {
    const sent = this.#sent.get(id);
    if (!sent) throw new Error("no message with this ID was delivered");
    return sent;
  }

  /** Sends these receipts for a message in this order. */
  sendReceipts(id: string, receipts: readonly Receipt[]): void {
    const { device, to } = this.#getSent(id);
    for (const receipt of receipts) {
      const attrs = { id, from: to, t: secondsNow() };
      device.push(element("receipt", receipt === "read" ? { ...attrs, type: "read" } : attrs));
    }
    this.#changed();
  }

  /** Requests a message again. */
  async askAgain(id: string): Promise<void> {
    const { device, to } = this.#getSent(id);
    const phone = this.#directory.find(userOf(to));
    if (!phone || phone === this.#account.phone) throw new Error("the recipient has no phone");
    if (phone.retriesOf(id) >= maxRetries) return;
    device.push(await phone.retryReceipt(id, to));
    this.#changed();
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }
}
