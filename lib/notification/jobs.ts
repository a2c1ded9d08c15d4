import type { TemplateName } from "./templates.ts";

/** A scheduled notification: a schedule in AWS, a timer in `npm run dev`. */
export interface Job {
  /** Lower-case letters, digits and dashes. Part of the idempotency keys: do not rename a job. */
  readonly name: string;
  readonly summary: string;
  /**
   * In the city's time. EventBridge Scheduler's six fields: minute, hour, day of month, month, day of week (1 is Sunday), year.
   * `rate(…)` is not allowed: it counts from the deployment, so missed times could not be determined.
   */
  readonly schedule: `cron(${string})`;
  /** A view in the schema `audience`: `(dedupe_key text, phone text, values jsonb)`. */
  readonly audience: string;
  readonly template: Exclude<TemplateName, "proof">;
  /**
   * How often a `dedupe_key` is notified: once per `run`, or once `ever`, that is, not again in later runs while the
   * view contains it.
   */
  readonly once: "run" | "ever";
}

/** All jobs. To add one, add a row here and its view in a new migration in `lib/db/tables/`. */
export const jobs: readonly Job[] = [
  {
    name: "appointment-reminder",
    summary: "Sends reminders of tomorrow's appointments",
    schedule: "cron(0 8 * * ? *)",
    audience: "appointment_reminder",
    template: "appointment-reminder",
    once: "run",
  },
  {
    name: "queue-ticket",
    summary: "Notifies people in a queue when ten, five, two or none are ahead of them",
    schedule: "cron(0/3 8-15 ? * MON-FRI *)",
    audience: "queue_ticket",
    template: "queue-ticket",
    once: "ever",
  },
  {
    name: "document-status",
    summary: "Notifies applicants of a document's new status",
    schedule: "cron(0/5 * * * ? *)",
    audience: "document_status",
    template: "status-change",
    once: "ever",
  },
  {
    name: "system-alert",
    summary: "Alerts the numbers on call to a system failure",
    schedule: "cron(0/2 * * * ? *)",
    audience: "system_alert",
    template: "system-alert",
    once: "ever",
  },
];

export const findJob = (name: string): Job | undefined => jobs.find((job) => job.name === name);
