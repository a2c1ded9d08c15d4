import type { MediaStore } from "./media/media-store.ts";
import { newLid, Phone } from "./phone.ts";
import { userOf } from "./wire/stanza.ts";

/** All phones that have an account. */
export class Directory {
  readonly #byNumber = new Map<string, Phone>();
  readonly #byLid = new Map<string, Phone>();
  readonly #media: MediaStore;
  readonly #isRegistered: (number: string) => boolean;

  /** @param isRegistered whether another number gets an account when it is first used. */
  constructor(media: MediaStore, isRegistered: (number: string) => boolean) {
    this.#media = media;
    this.#isRegistered = isRegistered;
  }

  get phones(): Phone[] {
    return [...this.#byNumber.values()];
  }

  register(number: string): Phone {
    if (!/^\d{5,15}$/.test(number))
      throw new Error("a number must be 5 to 15 digits, starting with the country code");
    const known = this.#byNumber.get(number);
    if (known) return known;
    const phone = new Phone(number, this.#media);
    this.#byNumber.set(number, phone);
    this.#byLid.set(phone.lid, phone);
    return phone;
  }

  /** Gives a phone another LID; it is still found by the former one. */
  changeLid(phone: Phone): void {
    phone.lid = newLid(phone.lid);
    this.#byLid.set(phone.lid, phone);
  }

  remove(number: string): void {
    const phone = this.#byNumber.get(number);
    if (!phone) return;
    phone.close();
    this.#byNumber.delete(number);
    for (const [lid, known] of this.#byLid) if (known === phone) this.#byLid.delete(lid);
  }

  /** Finds the phone with this JID, LID or number. */
  find(address: string): Phone | undefined {
    const user = userOf(address);
    const known = this.#byLid.get(user) ?? this.#byNumber.get(user);
    if (known || address.endsWith("@lid") || !/^\d{5,15}$/.test(user)) return known;
    return this.#isRegistered(user) ? this.register(user) : undefined;
  }

  /** Finds the phone, or its companion, with this JID. */
  findDevice(jid: string): Phone | undefined {
    const phone = this.find(jid);
    const id = Number(/:(\d+)@/.exec(jid)?.[1] ?? 0);
    return id === 0 || phone?.id === id ? phone : phone?.companions.find((companion) => companion.id === id);
  }

  close(): void {
    for (const phone of this.phones) phone.close();
  }
}
