import type { Secrets } from "#lib/secrets/table/table.ts";
import type { Address, Upstream } from "./route.ts";

/** A function without a route: a schedule, an event, Secrets Manager or a role of the city starts it. */
export interface InternalFunction {
  /** Module under `functions/`. */
  readonly fn: string;
  readonly secrets: Secrets;
  readonly upstreams?: readonly Upstream[];
  readonly addresses?: readonly Address[];
  readonly everyMinutes?: number;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
}

/** The maintenance of the database. The timeout is below the interval, so that runs never overlap. */
export const maintain: InternalFunction = {
  fn: "maintain",
  secrets: { DATABASE_SECRET_ID: "database/maintenance" },
  addresses: ["AUDIT_ANCHORS_URL"],
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

/** One step of a secret's rotation, for Secrets Manager. */
export const rotate: InternalFunction = { fn: "rotate", secrets: {}, timeoutSeconds: 60, memoryMb: 256 };

/** Asks both APIs for an answer from outside, once a minute on AWS. */
export const probe: InternalFunction = {
  fn: "probe",
  secrets: {},
  addresses: ["INTEGRATION_ADDRESS", "MESSAGING_ADDRESS"],
  timeoutSeconds: 20,
  memoryMb: 256,
};

/** Called by the citizens' portal, in a stage that names its role. */
export const reportSubject: InternalFunction = {
  fn: "report-subject",
  secrets: { DATABASE_SECRET_ID: "database/citizen-portal", PEPPER_SECRET_ID: "audit-pepper" },
  timeoutSeconds: 10,
  memoryMb: 512,
};

export const internalFunctions: readonly InternalFunction[] = [
  maintain,
  notify,
  rotate,
  probe,
  reportSubject,
];

/** The secrets of the messenger, which runs in a container. */
export const messengerSecrets = {
  DATABASE_SECRET_ID: "database/messenger",
  CONSOLE_DATABASE_SECRET_ID: "database/console",
  MESSENGER_TOKEN_SECRET_ID: "messenger-token",
  MESSENGER_KEY_SECRET_ID: "messenger-key",
  CONSOLE_SECRET_ID: "messenger-console",
  PEPPER_SECRET_ID: "opt-out-pepper",
  MESSENGER_CHANNELS_SECRET_ID: "messenger-channels",
} as const satisfies Secrets;
