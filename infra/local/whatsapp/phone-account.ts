import type { BinaryNode } from "baileys";
import type { Connection } from "./connection.ts";
import { KeyBundle } from "./keys.ts";
import type { Phone } from "./phone.ts";

const keyOf = ({ id, type = "" }: BinaryNode["attrs"]) => `${id} ${type}`;

/** A client linked to the account. */
export class Device {
  readonly id: number;
  readonly identityKey: Buffer;
  readonly #account: Account;
  readonly #unacknowledged = new Map<string, BinaryNode>();
  /** Keys uploaded by the client. */
  readonly keys = new KeyBundle();
  connection: Connection | undefined;

  constructor(id: number, identityKey: Buffer, account: Account) {
    this.id = id;
    this.identityKey = identityKey;
    this.#account = account;
  }

  get jid(): string {
    return `${this.#account.phone.number}:${this.id}@s.whatsapp.net`;
  }

  get lid(): string {
    return `${this.#account.phone.lid}:${this.id}@lid`;
  }

  #listMessages(): BinaryNode[] {
    return [...this.#unacknowledged.values()].filter(({ tag }) => tag === "message");
  }

  /**
   * Sends a stanza, and again after each reconnect until the client acknowledges it.
   *
   * @param inTurn whether a message waits until those before it are acknowledged.
   */
  push(stanza: BinaryNode, inTurn = false): void {
    const isHeld = inTurn && this.#listMessages().length > 0;
    this.#unacknowledged.set(keyOf(stanza.attrs), stanza);
    if (!isHeld) this.connection?.send(stanza);
  }

  acknowledge(attrs: BinaryNode["attrs"], inTurn = false): void {
    const stanza = this.#unacknowledged.get(keyOf(attrs));
    this.#unacknowledged.delete(keyOf(attrs));
    const [next] = this.#listMessages();
    if (inTurn && stanza?.tag === "message" && next) this.connection?.send(next);
  }

  get unacknowledged(): number {
    return this.#unacknowledged.size;
  }

  /** Sends what is not acknowledged yet. "0" would be a live stanza (Baileys #2810). @returns how many stanzas. */
  catchUp(inTurn = false): number {
    const [, ...held] = inTurn ? this.#listMessages() : [];
    for (const stanza of this.#unacknowledged.values())
      if (!held.includes(stanza))
        this.connection?.send({ ...stanza, attrs: { ...stanza.attrs, offline: "1" } });
    return this.#unacknowledged.size;
  }
}

/** The account that sends messages: its phone and the linked clients. */
export class Account {
  readonly phone: Phone;
  /** By the client's public key. */
  readonly #devices = new Map<string, Device>();
  #lastId = 0;

  constructor(phone: Phone) {
    this.phone = phone;
  }

  get devices(): Device[] {
    return [...this.#devices.values()];
  }

  find(clientKey: string): Device | undefined {
    return this.#devices.get(clientKey);
  }

  /** Returns the ID for the next linked device. */
  reserve(): number {
    return ++this.#lastId;
  }

  link(clientKey: string, id: number, identityKey: Buffer): Device {
    const device = new Device(id, identityKey, this);
    this.#devices.set(clientKey, device);
    return device;
  }

  unlink(device: Device): void {
    for (const [key, known] of this.#devices) if (known === device) this.#devices.delete(key);
  }
}
