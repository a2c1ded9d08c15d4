import { deadline } from "#lib/deadline.ts";
import type { Rate } from "#lib/routes/route.ts";
import type { UsagePlan } from "../../aws/api.ts";

/** Token buckets by name, as in API Gateway. */
export class Throttle {
  readonly #buckets = new Map<string, { tokens: number; at: number }>();

  /** Takes a token. @returns false if the bucket is empty. */
  take(name: string, { requestsPerSecond, burst }: Rate, now = Date.now()): boolean {
    const { tokens, at } = this.#buckets.get(name) ?? { tokens: burst, at: now };
    // the clock may be set back
    const filled = Math.min(burst, tokens + (Math.max(0, now - at) / 1_000) * requestsPerSecond);
    const taken = filled >= 1;
    this.#buckets.set(name, { tokens: taken ? filled - 1 : filled, at: now });
    return taken;
  }
}

/** Requests of each client address within a minute. Like AWS WAF, it counts rejected requests too. */
export class AddressCounter {
  readonly #minutes = new Map<string, { count: number; since: number }>();

  /** Counts a request. @returns false if the address is over the limit. */
  take(address: string, requestsPerMinute: number, now = Date.now()): boolean {
    const known = this.#minutes.get(address);
    const minute = known && now - known.since < 60_000 ? known : { count: 0, since: now };
    minute.count += 1;
    this.#minutes.set(address, minute);
    return minute.count <= requestsPerMinute;
  }
}

/** Request counts by name and UTC day. */
export class Quota {
  readonly #counts = new Map<string, number>();

  /** Counts a request. @returns false if the day's quota is already used up. */
  take(name: string, { requestsPerDay }: UsagePlan, now = new Date()): boolean {
    const day = `${name} ${now.toISOString().slice(0, 10)}`;
    const count = this.#counts.get(day) ?? 0;
    if (count >= requestsPerDay) return false;
    this.#counts.set(day, count + 1);
    return true;
  }
}

type FindPlan = (usageIdentifier: string) => Promise<string | undefined>;

const timeoutMs = 1_000;

/**
 * Caches usage plans, because API Gateway does not depend on the database either. A known plan is returned at once and
 * refreshed for the next call.
 */
export const cachePlans = (findPlan: FindPlan): FindPlan => {
  const known = new Map<string, string>();
  const refresh = async (usageIdentifier: string) => {
    const plan = await findPlan(usageIdentifier);
    if (plan) known.set(usageIdentifier, plan);
    return plan;
  };
  return async (usageIdentifier) => {
    const refreshed = deadline(refresh(usageIdentifier), timeoutMs).catch(() => undefined);
    return known.get(usageIdentifier) ?? refreshed;
  };
};
