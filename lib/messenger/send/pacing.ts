import type { ObstacleName, Outgoing } from "../outbox/message.ts";
import type { Cap, History } from "./history.ts";
import { Outages } from "./outages.ts";
import { growingMs, type Pace } from "./pace.ts";

/** `until` by the steady clock; infinite where the end is unknown. */
interface Limit {
  readonly name: ObstacleName;
  readonly until: number;
}
interface NewContactLimit extends Limit {
  readonly upTo: number;
}

/** One-time codes and transactional messages. */
const urgentPriorities = 1;
const allPriorities = 3;
/** From this part of the cap on, what is left of it is spread over the rest of the cycle. */
export const slowFrom = 0.75;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** When fewer than `limit` of the times are within the window. @param times oldest first */
const freeAt = (times: readonly number[], limit: number, windowMs: number): number => {
  if (limit <= 0) return Number.POSITIVE_INFINITY;
  if (times.length < limit) return 0;
  return (times[times.length - limit] ?? 0) + windowMs;
};

type Sending = Pick<Outgoing, "phone" | "isNewContact" | "priority" | "number">;

/** Decides when the next message may be sent. Times are those of the steady clock. */
export class Pacing {
  readonly #pace: Pace;
  readonly #random: () => number;
  readonly #byRecipient = new Map<string, number>();
  #number: string | undefined;
  #sentAt: number[] = [];
  #newContactsAt: number[] = [];
  /** 0 if there was none in the last 24 hours, or since. */
  #lastNewContactAt = 0;
  #firstSentAt: number | undefined;
  #rampUntil = 0;
  #gapUntil = 0;
  #stoppedUntil = 0;
  #lockedUntil = 0;
  #pausedUntil = 0;
  #newContactsHeldUntil = 0;
  #unexplainedAt = Number.NEGATIVE_INFINITY;
  #cap: Cap | null = null;
  /** The messages that have no answer yet. */
  readonly #underWay = new Set<Sending>();
  readonly outages: Outages;
  /** How often the platform has announced a lock. */
  announcedLocks = 0;
  /** How often it has announced a cap. */
  announcedCaps = 0;

  /** @param history undefined until the account is known: then nothing may be sent. */
  constructor(pace: Pace, history?: History, random: () => number = Math.random) {
    this.#pace = pace;
    this.#random = random;
    this.outages = new Outages(pace.retryMs);
    if (history) this.begin(history);
  }

  /** The account whose limits apply; undefined while none is known. */
  get number(): string | undefined {
    return this.#number;
  }

  /** Applies the limits of an account, and no longer those of another. */
  begin(history: History): void {
    this.#number = history.number;
    this.#sentAt = [...history.sentAt];
    this.#newContactsAt = [...history.newContactsAt];
    this.#lastNewContactAt = history.newContactsAt.at(-1) ?? 0;
    this.#firstSentAt = history.firstSentAt;
    this.#lockedUntil = history.lockedUntil;
    this.#pausedUntil = history.pausedUntil;
    this.#stoppedUntil = history.stoppedUntil;
    this.#cap = history.cap;
    for (const { phone, until } of history.resting) this.coolDown(phone, until);
  }

  /** Allows no sends until the next account begins. */
  end(): void {
    this.#number = undefined;
  }

  nextAt(now: number): number {
    return Math.max(...this.#limits(now).map(({ until }) => until));
  }

  /** What limits all messages, with the end of each in the past or the future. */
  #limits(now: number): Limit[] {
    if (this.#number === undefined) return [{ name: "no-account", until: Number.POSITIVE_INFINITY }];
    const { perMinute, perHour } = this.#pace;
    const { size } = this.#underWay;
    return [
      { name: "too-fast", until: this.#stoppedUntil },
      { name: "gap", until: this.#gapUntil },
      { name: "minute", until: freeAt(this.#sentAt, perMinute - size, minuteMs) },
      { name: "hour", until: freeAt(this.#sentAt, perHour - size, hourMs) },
      { name: "day", until: freeAt(this.#sentAt, this.#dailyCap(now) - size, dayMs) },
    ];
  }

  /** @returns the numbers that nothing may be sent to now; one to which a message is under way is among them. */
  coolingDown(now: number): string[] {
    for (const [phone, until] of this.#byRecipient) if (until <= now) this.#byRecipient.delete(phone);
    return [...this.#byRecipient.keys(), ...[...this.#underWay].map(({ phone }) => phone)];
  }

  /**
   * The least urgent priority at which new contacts may be written to now; -1 for none. Near the platform's cap only urgent
   * messages are not slowed down.
   */
  newContactsUpTo(now: number): number {
    const levels = this.#newContactLimits(now).map(({ upTo, until }) => (until > now ? upTo : allPriorities));
    return Math.min(...levels);
  }

  /** What limits new contacts: until its end, only messages up to a priority may be sent to them. */
  #newContactLimits(now: number): NewContactLimit[] {
    const underWay = [...this.#underWay].filter(({ isNewContact }) => isNewContact).length;
    const budgetUntil = freeAt(this.#newContactsAt, this.#pace.newContactsPerDay - underWay, dayMs);
    const limits: NewContactLimit[] = [
      { name: "new-contacts", until: budgetUntil, upTo: -1 },
      { name: "limits-unknown", until: this.#newContactsHeldUntil, upTo: -1 },
      { name: "limited", until: this.limitedUntil(now), upTo: -1 },
    ];
    const cap = this.capAt(now);
    const used = (cap?.used ?? 0) + underWay;
    if (!cap || used < slowFrom * cap.total) return limits;
    if (cap.used >= cap.total) return limits;
    // those under way may use up the rest
    if (used >= cap.total) return [...limits, { name: "limited", until: cap.endsAt, upTo: -1 }];
    const last = underWay > 0 ? now : this.#lastNewContactAt;
    if (last === 0) return limits;
    const gapMs = (cap.endsAt - last) / (cap.total - used);
    return [...limits, { name: "cap-spread", until: last + gapMs, upTo: urgentPriorities }];
  }

  /** Lists what keeps a message from being sent now, with the end of each. */
  listObstacles(message: Pick<Outgoing, "phone" | "isNewContact" | "priority">, now: number): Limit[] {
    const { phone, isNewContact, priority } = message;
    const restsUntil = this.coolingDown(now).includes(phone)
      ? (this.#byRecipient.get(phone) ?? Number.POSITIVE_INFINITY)
      : 0;
    const ofNewContacts = this.#newContactLimits(now).filter(({ upTo }) => isNewContact && priority > upTo);
    const all = [...this.#limits(now), { name: "recipient" as const, until: restsUntil }, ...ofNewContacts];
    return all.filter(({ until }) => until > now).map(({ name, until }) => ({ name, until }));
  }

  /**
   * Counts a message from when it is sent until its answer arrives, since others may be sent meanwhile.
   *
   * @returns a function to call after the answer; undefined if the message may not be sent now.
   */
  admit(message: Sending, now: number): (() => void) | undefined {
    // another number may have been linked since it was taken
    if (message.number !== this.#number) return undefined;
    if (this.listObstacles(message, now).length > 0) return undefined;
    this.#underWay.add(message);
    this.#startGap(now);
    return () => this.#underWay.delete(message);
  }

  recordSend(phone: string, isNew: boolean, now: number): void {
    this.#firstSentAt ??= now;
    this.#sentAt.push(now);
    while ((this.#sentAt[0] ?? now) < now - dayMs) this.#sentAt.shift();
    if (isNew) {
      this.#newContactsAt.push(now);
      this.#lastNewContactAt = now;
    }
    if (isNew && this.#cap) this.#cap = { ...this.#cap, used: this.#cap.used + 1 };
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

  /** Whether new contacts are paused because of the platform. */
  isLimited(now: number): boolean {
    return now < this.limitedUntil(now);
  }

  /** When the platform's lock or cap, or a pause after a rejection, ends. */
  limitedUntil(now: number): number {
    return Math.max(this.#pausedUntil, this.platformLimitUntil(now));
  }

  /** When the platform's lock ends, or the cycle of its cap that is used up; 0 for neither. */
  platformLimitUntil(now: number): number {
    const cap = this.capAt(now);
    const capUntil = cap && cap.used >= cap.total ? cap.endsAt : 0;
    const until = Math.max(this.#lockedUntil, capUntil);
    return until > now ? until : 0;
  }

  /** The platform's cap in its current cycle. */
  capAt(now: number): Cap | null {
    return this.#cap && this.#cap.endsAt > now ? this.#cap : null;
  }

  /** Describes the platform's limits and outages for the console. */
  describe(now: number) {
    const until = this.limitedUntil(now);
    const cap = this.capAt(now);
    const outages = this.outages.list(now);
    return {
      ...(outages.length > 0 && { outages }),
      ...(this.#stoppedUntil > now && { stoppedSeconds: (this.#stoppedUntil - now) / 1_000 }),
      ...(until > now && { pausedSeconds: (until - now) / 1_000 }),
      ...(cap && { cap: { total: cap.total, used: cap.used, endsInSeconds: (cap.endsAt - now) / 1_000 } }),
    };
  }

  /** Applies the platform's lock. @param until a time in the past ends it. */
  lockNewContacts(until: number): void {
    this.#lockedUntil = until;
  }

  capNewContacts(cap: Cap | null): void {
    this.#cap = cap;
  }

  /** Holds new contacts back until the platform's limits are known. */
  holdNewContacts(until: number): void {
    this.#newContactsHeldUntil = until;
  }

  pauseNewContacts(until: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, until);
  }

  /** Records a rejection that no lock explains. @returns whether there was another within the window. */
  countUnexplained(now: number, windowMs: number): boolean {
    const isRepeated = now - this.#unexplainedAt < windowMs;
    this.#unexplainedAt = now;
    return isRepeated;
  }

  /** Sends nothing at all until then: the platform said that the account sends too fast. */
  stopAll(until: number): void {
    this.#stoppedUntil = Math.max(this.#stoppedUntil, until);
  }

  /** How long to wait after a temporary rejection. @param before how many there were before. */
  retryAfterMs(before: number): number {
    return growingMs(this.#pace.retryMs, before);
  }

  #startGap(now: number): void {
    const [least, most] = this.#pace.gapMs;
    const gap = least + this.#random() * (most - least);
    this.#gapUntil = Math.max(this.#gapUntil, now + (now < this.#rampUntil ? 2 * gap : gap));
  }

  #dailyCap(now: number): number {
    const day = Math.floor((now - (this.#firstSentAt ?? now)) / dayMs);
    return Math.min(this.#pace.perDay, this.#pace.warmUp[day] ?? this.#pace.perDay);
  }
}
