import type { TemplateName } from "./templates.ts";

/** One scheduled notification. The stacks make a schedule of each, and `npm run dev` a timer. */
export interface Job {
  /** Small letters, digits and dashes: part of what a message is recognised by, so it does not change. */
  readonly name: string;
  /** What it does, for operators. */
  readonly summary: string;
  /**
   * EventBridge Scheduler's six fields: minute, hour, day of month, month, day of week (1 is Sunday), year.
   * No `rate(…)`: it counts from a deployment, and nobody could say which times were missed.
   */
  readonly schedule: `cron(${string})`;
  /** IANA name of the zone whose clock the schedule goes by. */
  readonly timeZone: string;
  /** A view in the schema `audience`: `(dedupe_key text, phone text, values jsonb)`. */
  readonly audience: string;
  readonly template: Exclude<TemplateName, "proof">;
  /**
   * What a `dedupe_key` is told once for: `run`, in each run anew; `ever`, in none of the later runs for as long
   * as the view shows it.
   */
  readonly once: "run" | "ever";
}

/** The city's clock. */
const timeZone = "Asia/Jakarta";

/** Every job that runs. To add one: a row here, and its view in a new file of `lib/db/migrations/`. */
export const jobs: readonly Job[] = [
  {
    name: "appointment-reminder",
    summary: "Reminds of tomorrow's appointments",
    schedule: "cron(0 8 * * ? *)",
    timeZone,
    audience: "appointment_reminder",
    template: "appointment-reminder",
    once: "run",
  },
  {
    name: "queue-ticket",
    summary: "Tells who waits how many are ahead, when ten, five, two and none are left",
    schedule: "cron(0/3 8-15 ? * MON-FRI *)",
    timeZone,
    audience: "queue_ticket",
    template: "queue-ticket",
    once: "ever",
  },
  {
    name: "document-status",
    summary: "Tells applicants that the status of a document has changed",
    schedule: "cron(0/5 * * * ? *)",
    timeZone,
    audience: "document_status",
    template: "status-change",
    once: "ever",
  },
  {
    name: "system-alert",
    summary: "Tells the numbers on call what is wrong with a system",
    schedule: "cron(0/2 * * * ? *)",
    timeZone,
    audience: "system_alert",
    template: "system-alert",
    once: "ever",
  },
];

export const findJob = (name: string): Job | undefined => jobs.find((job) => job.name === name);
