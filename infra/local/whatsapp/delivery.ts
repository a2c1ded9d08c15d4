import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren } from "baileys";
import type { Account, Device } from "./account.ts";
import { type Behaviour, type Receipt, refusalOf, spend } from "./behaviour.ts";
import type { Connection } from "./connection.ts";
import type { Directory } from "./directory.ts";
import type { Phone } from "./phone.ts";
import { bytesOf, element, secondsNow, userOf } from "./stanza.ts";

/** As in the client. */
const maxRetries = 5;
/** The error code for a number without an account. */
const noAccount = 404;

/** The sender and recipient of a message, for later receipts. */
interface Sent {
  readonly device: Device;
  readonly to: string;
}

/** Delivers messages to phones and sends acks and receipts, according to the behaviour. */
export class Delivery {
  readonly #account: Account;
  readonly #directory: Directory;
  readonly #behaviour: () => Behaviour;
  readonly #changed: () => void;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #sent = new Map<string, Sent>();
  /** How often each message ID was received, delivered or not. */
  readonly arrivals = new Map<string, number>();
  #order = 0;

  constructor(account: Account, directory: Directory, behaviour: () => Behaviour, changed: () => void) {
    this.#account = account;
    this.#directory = directory;
    this.#behaviour = behaviour;
    this.#changed = changed;
  }

  async deliver(connection: Connection, device: Device, message: BinaryNode): Promise<void> {
    const { id = "", to = "" } = message.attrs;
    const behaviour = this.#behaviour();
    this.arrivals.set(id, (this.arrivals.get(id) ?? 0) + 1);
    if (spend(behaviour, "dropUndelivered")) return connection.drop();
    const recipient = this.#directory.find(to);
    const refusal = recipient ? refusalOf(behaviour, recipient.number) : noAccount;
    if (refusal)
      return this.#after(behaviour.ackDelayMs, () => this.#acknowledge(connection, id, to, refusal));

    this.#sent.set(id, { device, to });
    const readable = await this.#hand(message, device, recipient);
    if (spend(behaviour, "dropBeforeAck")) connection.drop();
    else if (behaviour.ack) {
      // 1 ms: after the receipts, which are then sent without a delay
      const late = behaviour.receiptsBeforeAck ? Math.max(behaviour.ackDelayMs, 1) : behaviour.ackDelayMs;
      this.#after(late, () => this.#acknowledge(connection, id, to));
    }
    const wait = behaviour.receiptsBeforeAck ? 0 : behaviour.ackDelayMs;
    if (readable)
      for (const [index, receipt] of behaviour.receipts.entries())
        this.#after(wait + behaviour.receiptDelayMs * (index + 1), () => this.sendReceipts(id, [receipt]));
    else if (behaviour.askAgainOnFailure || readable === undefined)
      this.#after(wait, () => void this.askAgain(id).catch(() => {}));
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
      const phone = this.#directory.find(part.attrs.jid ?? "");
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
    const attrs = { class: "message", id, from: to, t: secondsNow() };
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
