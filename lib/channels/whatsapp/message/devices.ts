import { type BinaryNode, jidDecode, type UserFacingSocketConfig } from "baileys";
import { steadyNow } from "#lib/deadline.ts";

/** As long as in baileys' own cache: a notification of a changed list may be missed. */
const maxAgeMs = 5 * 60_000;

/** The part of an address that its devices share: the number or the LID. */
export const userOf = (jid: string | undefined): string => jidDecode(jid)?.user ?? "";

/** Caches the devices of the users that were sent to last, so that they can be sent to while the directory fails. */
export class Devices implements NonNullable<UserFacingSocketConfig["userDevicesCache"]> {
  readonly #byUser = new BoundedMap<{ readonly devices: unknown; readonly until: number }>();
  /** The users whose devices the last send to a number needed, by its jid: the contact and the account. */
  readonly #users = new BoundedMap<readonly string[]>();

  get<T>(user: string): T | undefined {
    const entry = this.#byUser.get(user);
    return entry && steadyNow() < entry.until ? (entry.devices as T) : undefined;
  }

  set(user: string, devices: unknown): void {
    this.#byUser.set(user, { devices, until: steadyNow() + maxAgeMs });
  }

  del(user: string): void {
    this.#byUser.delete(user);
  }

  flushAll(): void {
    this.#byUser.clear();
  }

  /** Deletes what a notification of changed devices concerns: baileys does so for the number, but messages go to the LID. */
  forget({ attrs: { from, lid } }: BinaryNode): void {
    this.del(userOf(from));
    this.del(userOf(lid));
  }

  recordUse(jid: string, users: readonly string[]): void {
    this.#users.set(jid, users);
  }

  /** Whether baileys can send to a number without a query for devices. */
  know(jid: string): boolean {
    const users = this.#users.get(jid);
    return users?.every((user) => this.get(user) !== undefined) ?? false;
  }

  /** Lists the numbers that baileys can send to without a query for devices. */
  listKnown(): string[] {
    return [...this.#users.keys()].filter((jid) => this.know(jid)).map(userOf);
  }
}

const maxEntries = 4_000;

/** A map of a few thousand contacts; the oldest entry makes room for the next. */
export class BoundedMap<V> extends Map<string, V> {
  override set(key: string, value: V): this {
    this.delete(key);
    const [oldest] = this.keys();
    if (this.size >= maxEntries && oldest !== undefined) this.delete(oldest);
    return super.set(key, value);
  }
}
