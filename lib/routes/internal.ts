import type { Secrets, Upstream } from "./route.ts";

/** A function that no client calls: it is started by a schedule, an event or a deployment. */
export interface InternalFunction {
  /** Module under `functions/`. */
  readonly fn: string;
  readonly secrets: Secrets;
  /** The systems that the function calls. */
  readonly upstreams?: readonly Upstream[];
  /** Interval of a function that runs on a schedule. */
  readonly everyMinutes?: number;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
}

/** The maintenance of the database. The timeout is below the interval, so that runs never overlap. */
export const maintain: InternalFunction = {
  fn: "maintain",
  secrets: { DATABASE_SECRET_ID: "database/maintenance" },
  everyMinutes: 5,
  timeoutSeconds: 240,
  memoryMb: 512,
};

/**
 * Started by the schedules of `lib/notification/jobs.ts` and by the bus event. A run of 10,000 recipients takes at most
 * a minute; the rest of the timeout is for waiting while the messenger is unavailable.
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
