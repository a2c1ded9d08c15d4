import type { BinaryNode } from "baileys";
import type { Account, Device } from "./account.ts";
import { type Behaviour, type Receipt, refusalOf, spend } from "./behaviour.ts";
import type { Connection } from "./connection.ts";
import type { Directory } from "./directory.ts";
import type { Phone } from "./phone.ts";
import { bytesOf, element, findChild, listChildren, secondsNow, userOf } from "./stanza.ts";

/** A client gives up after as many; so does a phone. */
const maxRetries = 5;
/** What a message to a number without an account is refused with. */
const noAccount = 404;

/** Where a message went that was sent, so that receipts can follow later. */
interface Sent {
  readonly device: Device;
  readonly to: string;
}

/** Takes messages to their phones and answers them, as well or as badly as the behaviour says. */
export class Delivery {
  readonly #account: Account;
  readonly #directory: Directory;
  readonly #behaviour: () => Behaviour;
  readonly #changed: () => void;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #sent = new Map<string, Sent>();
  /** How often each message id came, whatever became of it. */
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
      // a late ack must not be overtaken by receipts, unless that is what is wanted
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
   * Gives each phone its copy; the account's own phone gets one too.
   * @returns whether the recipient could read it; undefined when it claims that it could not.
   */
  async #hand(
    message: BinaryNode,
    device: Device,
    recipient: Phone | undefined,
  ): Promise<boolean | undefined> {
    const { id = "", to = "" } = message.attrs;
    const copies = findChild(message, "participants");
    // a message that was asked for again by one device comes without the list
    const parts = copies
      ? listChildren(copies, "to")
      : [element("to", { jid: to }, listChildren(message, "enc"))];
    const order = ++this.#order;
    let readable: boolean | undefined = false;
    for (const part of parts) {
      const phone = this.#directory.find(part.attrs.jid ?? "");
      const encrypted = findChild(part, "enc");
      if (!phone || !encrypted) continue;
      const mine = phone === recipient;
      if (mine && spend(this.#behaviour(), "askAgain")) {
        readable = undefined;
        continue;
      }
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
    if (!sent) throw new Error("no message with this id was delivered");
    return sent;
  }

  /** The phone sends these receipts for a message, in this order. */
  sendReceipts(id: string, receipts: readonly Receipt[]): void {
    const { device, to } = this.#getSent(id);
    for (const receipt of receipts) {
      const attrs = { id, from: to, t: secondsNow() };
      device.push(element("receipt", receipt === "read" ? { ...attrs, type: "read" } : attrs));
    }
    this.#changed();
  }

  /** The phone asks for a message again. */
  async askAgain(id: string): Promise<void> {
    const { device, to } = this.#getSent(id);
    const phone = this.#directory.find(userOf(to));
    if (!phone || phone === this.#account.phone) throw new Error("nobody is there to ask");
    if (phone.retriesOf(id) >= maxRetries) return;
    device.push(await phone.retryReceipt(id, to));
    this.#changed();
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }
}
