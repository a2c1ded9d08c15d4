import type { Outgoing } from "../outbox/message.ts";

/** How fast a number may send without being detected as a bot. The platform's own limits are not public. */
export interface Pace {
  /** Between two sends: a random time between these. */
  readonly gapMs: readonly [number, number];
  readonly perRecipientMs: number;
  readonly perMinute: number;
  readonly perHour: number;
  readonly perDay: number;
  /** Numbers that nothing was ever sent to. */
  readonly newContactsPerDay: number;
  /** The daily limit of a new account, by days since its first send. */
  readonly warmUp: readonly number[];
  /** For this time after each connect the gaps are doubled. */
  readonly rampMs: number;
}

export const carefulPace: Pace = {
  gapMs: [3_000, 8_000],
  perRecipientMs: 6_000,
  perMinute: 8,
  perHour: 200,
  perDay: 1_500,
  newContactsPerDay: 200,
  warmUp: [20, 40, 80, 150, 250, 400, 600, 800, 1_000, 1_200],
  rampMs: 60_000,
};

/** For tests and measurements against the fake platform. */
export const noPace: Pace = {
  gapMs: [0, 0],
  perRecipientMs: 0,
  perMinute: Number.POSITIVE_INFINITY,
  perHour: Number.POSITIVE_INFINITY,
  perDay: Number.POSITIVE_INFINITY,
  newContactsPerDay: Number.POSITIVE_INFINITY,
  warmUp: [],
  rampMs: 0,
};

/** What was sent before this task became leader: the limits apply to the number. */
export interface History {
  /** Times of the sends of the last 24 hours by the steady clock, oldest first. */
  readonly sentAt: readonly number[];
  /** Times of the first send to each new number of the last 24 hours. */
  readonly newContactsAt: readonly number[];
  /** Days since the first send, 0 on the first. */
  readonly daysOfUse: number;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** When fewer than `limit` of the times are within the window. @param times oldest first */
const freeAt = (times: readonly number[], limit: number, windowMs: number): number => {
  if (limit <= 0) return Number.POSITIVE_INFINITY;
  if (times.length < limit) return 0;
  return (times[times.length - limit] ?? 0) + windowMs;
};

/** Decides when the next message may be sent. Times are those of the steady clock. */
export class Pacing {
  readonly #pace: Pace;
  readonly #random: () => number;
  readonly #sentAt: number[];
  readonly #newContactsAt: number[];
  readonly #byRecipient = new Map<string, number>();
  readonly #daysOfUse: number;
  #rampUntil = 0;
  #gapUntil = 0;
  #newContactsFrom = 0;
  /** The messages that have no answer yet. */
  readonly #underWay = new Set<Pick<Outgoing, "phone" | "isNewContact">>();

  constructor(pace: Pace, history: History, random: () => number = Math.random) {
    this.#pace = pace;
    this.#random = random;
    this.#sentAt = [...history.sentAt];
    this.#newContactsAt = [...history.newContactsAt];
    this.#daysOfUse = history.daysOfUse;
  }

  nextAt(): number {
    const { perMinute, perHour } = this.#pace;
    const { size } = this.#underWay;
    return Math.max(
      this.#gapUntil,
      freeAt(this.#sentAt, perMinute - size, minuteMs),
      freeAt(this.#sentAt, perHour - size, hourMs),
      freeAt(this.#sentAt, this.#dailyCap() - size, dayMs),
    );
  }

  /** @returns the numbers that nothing may be sent to now; one to which a message is under way is among them. */
  coolingDown(now: number): string[] {
    for (const [phone, until] of this.#byRecipient) if (until <= now) this.#byRecipient.delete(phone);
    return [...this.#byRecipient.keys(), ...[...this.#underWay].map(({ phone }) => phone)];
  }

  allowsNewContacts(now: number): boolean {
    const underWay = [...this.#underWay].filter(({ isNewContact }) => isNewContact).length;
    const limit = this.#pace.newContactsPerDay - underWay;
    return now >= Math.max(this.#newContactsFrom, freeAt(this.#newContactsAt, limit, dayMs));
  }

  /**
   * Counts a message from when it is sent until its answer arrives, since others may be sent meanwhile.
   *
   * @returns a function to call after the answer; undefined if the message may not be sent now.
   */
  begin(message: Pick<Outgoing, "phone" | "isNewContact">, now: number): (() => void) | undefined {
    if (now < this.nextAt() || this.coolingDown(now).includes(message.phone)) return undefined;
    if (message.isNewContact && !this.allowsNewContacts(now)) return undefined;
    this.#underWay.add(message);
    this.#startGap(now);
    return () => this.#underWay.delete(message);
  }

  recordSend(phone: string, isNew: boolean, now: number): void {
    this.#sentAt.push(now);
    while ((this.#sentAt[0] ?? now) < now - dayMs) this.#sentAt.shift();
    if (isNew) this.#newContactsAt.push(now);
    while ((this.#newContactsAt[0] ?? now) < now - dayMs) this.#newContactsAt.shift();
    this.#startGap(now);
    this.coolDown(phone, now + this.#pace.perRecipientMs);
  }

  coolDown(phone: string, until: number): void {
    this.#byRecipient.set(phone, Math.max(until, this.#byRecipient.get(phone) ?? 0));
  }

  startRamp(now: number): void {
    this.#rampUntil = now + this.#pace.rampMs;
  }

  /** Whether new contacts are paused because the platform has rejected one. */
  isLimited(now: number): boolean {
    return now < this.#newContactsFrom;
  }

  pauseNewContacts(until: number): void {
    this.#newContactsFrom = Math.max(this.#newContactsFrom, until);
  }

  #startGap(now: number): void {
    const [least, most] = this.#pace.gapMs;
    const gap = least + this.#random() * (most - least);
    this.#gapUntil = now + (now < this.#rampUntil ? 2 * gap : gap);
  }

  #dailyCap(): number {
    return Math.min(this.#pace.perDay, this.#pace.warmUp[this.#daysOfUse] ?? this.#pace.perDay);
  }
}
