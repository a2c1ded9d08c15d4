import type { Secrets, Upstream } from "./route.ts";

/** A function that no client calls: a schedule, an event or a deployment starts it. */
export interface InternalFunction {
  /** Module under `functions/`. */
  readonly fn: string;
  readonly secrets: Secrets;
  /** The systems that the function calls. */
  readonly upstreams?: readonly Upstream[];
  /** For one that runs again and again by itself. */
  readonly everyMinutes?: number;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
}

/** The upkeep of the database. A run that is over before the next one begins never finds another one under way. */
export const maintain: InternalFunction = {
  fn: "maintain",
  secrets: { DATABASE_SECRET_ID: "database/maintenance" },
  everyMinutes: 5,
  timeoutSeconds: 240,
  memoryMb: 512,
};

/**
 * What the schedules of `lib/notification/jobs.ts` and the bus event start. A run of 10,000 recipients takes a
 * minute at most; the rest is for a messenger that is away.
 */
export const notify: InternalFunction = {
  fn: "notify",
  secrets: {
    DATABASE_SECRET_ID: "database/notify",
    PEPPER_SECRET_ID: "opt-out-pepper",
    MESSENGER_TOKEN_SECRET_ID: "messenger-token",
  },
  upstreams: ["MESSENGER_URL"],
  timeoutSeconds: 600,
  memoryMb: 512,
};

export const internalFunctions: readonly InternalFunction[] = [maintain, notify];
