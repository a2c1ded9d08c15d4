import * as z from "zod/mini";
import type { Behaviour } from "./behaviour.ts";

const count = z.int().check(z.minimum(0));
/** Unix time in seconds, as in the platform's answers. */
const endsAt = z.int();

/** How the platform limits chats with numbers that the account has not written to before. */
export const NewChats = z.strictObject({
  /**
   * The "reachout time lock": new chats get 463 until it ends.
   * @see https://github.com/WhiskeySockets/Baileys/pull/2442
   * @see https://github.com/tulir/whatsmeow/issues/1197
   */
  lock: z.optional(
    z.strictObject({
      endsAt: z.optional(endsAt),
      /** In place of an end: from the first message to a new chat, or the first query. */
      seconds: z._default(count, 0),
      isEndAnnounced: z._default(z.boolean(), true),
    }),
  ),
  /**
   * The quota of new chats of a cycle; those beyond it get 475.
   * @see https://github.com/devlikeapro/waha/pull/2186
   */
  cap: z.optional(z.strictObject({ total: count, used: count, endsAt })),
  /** False: queries for both fail. @see https://github.com/devlikeapro/waha/issues/2219 */
  answers: z._default(z.boolean(), true),
});

const locked = 463;
const capped = 475;
/** The query IDs of the client's library. */
const lockQuery = "23983697327930364";
const capQuery = "24503548349331633";

/** Whom the account has written to, and what that allows. */
export class NewChatLimits {
  readonly #behaviour: () => Behaviour;
  readonly #known = new Set<string>();

  constructor(behaviour: () => Behaviour) {
    this.#behaviour = behaviour;
  }

  /** @returns the code with which a message to the number is rejected, if any. */
  nackOf(number: string): number | undefined {
    if (this.#known.has(number)) return undefined;
    const { cap } = this.#behaviour().newChats;
    if (this.#lockEnd() > 0) return locked;
    return cap && cap.used >= cap.total ? capped : undefined;
  }

  record(number: string): void {
    const { cap } = this.#behaviour().newChats;
    if (cap && !this.#known.has(number)) cap.used += 1;
    this.#known.add(number);
  }

  #lockEnd(): number {
    const { lock } = this.#behaviour().newChats;
    if (!lock) return 0;
    lock.endsAt ??= Math.ceil(Date.now() / 1_000) + lock.seconds;
    return lock.endsAt * 1_000 > Date.now() ? lock.endsAt : 0;
  }

  #describeLock() {
    const ends = this.#lockEnd();
    return {
      is_active: ends > 0,
      time_enforcement_ends: String(ends),
      enforcement_type: ends > 0 ? "RESTRICT_ALL_COMPANIONS" : "DEFAULT",
    };
  }

  #describeCap() {
    const { cap } = this.#behaviour().newChats;
    if (!cap) return { total_quota: -1, used_quota: 0, capping_status: "NONE" };
    const { total, used, endsAt: ends } = cap;
    const status = used >= total ? "CAPPED" : used >= 0.8 * total ? "FIRST_WARNING" : "NONE";
    return {
      total_quota: total,
      used_quota: used,
      cycle_end_timestamp: String(ends),
      capping_status: status,
    };
  }

  /** Answers a query of the client, as JSON. */
  answer(queryId: string | undefined): string {
    if (!this.#behaviour().newChats.answers)
      return JSON.stringify({ errors: [{ message: "unavailable", extensions: { error_code: 503 } }] });
    const data = {
      ...(queryId === lockQuery && { xwa2_fetch_account_reachout_timelock: this.#describeLock() }),
      ...(queryId === capQuery && { xwa2_message_capping_info: this.#describeCap() }),
    };
    return JSON.stringify({ data });
  }

  /** What the platform sends without being asked, by operation. */
  announcements(): Record<string, string> {
    const { time_enforcement_ends, ...described } = this.#describeLock();
    // WhatsApp Web expects that the end may be missing (Baileys, `handleReachoutTimelockNotification`)
    const withEnd = this.#behaviour().newChats.lock?.isEndAnnounced !== false && { time_enforcement_ends };
    const lock = { xwa2_notify_account_reachout_timelock: { ...described, ...withEnd } };
    const cap = { xwa2_notify_new_chat_messages_capping_info_update: this.#describeCap() };
    return {
      NotificationUserReachoutTimelockUpdate: JSON.stringify({ data: lock }),
      MessageCappingInfoNotification: JSON.stringify({ data: cap }),
    };
  }
}
