import type { BinaryNode } from "baileys";
import type { Connection } from "./connection.ts";
import { KeyBundle } from "./key-bundle.ts";
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

  /** Sends a receipt, and again after each reconnect until the client acknowledges it. */
  push(receipt: BinaryNode): void {
    this.#unacknowledged.set(keyOf(receipt.attrs), receipt);
    this.connection?.send(receipt);
  }

  acknowledge(attrs: BinaryNode["attrs"]): void {
    this.#unacknowledged.delete(keyOf(attrs));
  }

  get unacknowledged(): number {
    return this.#unacknowledged.size;
  }

  /** Sends what is not acknowledged yet. @returns how many stanzas. */
  catchUp(): number {
    for (const receipt of this.#unacknowledged.values())
      this.connection?.send({ ...receipt, attrs: { ...receipt.attrs, offline: "0" } });
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
