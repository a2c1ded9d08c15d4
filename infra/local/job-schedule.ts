import { Cron } from "croner";
import { type ScheduleInput, scheduleInput } from "#lib/notification/event.ts";
import type { Job } from "#lib/notification/jobs.ts";

/**
 * EventBridge Scheduler's expression as croner reads it: croner wants seconds first, counts the days of the week
 * from 1 for Sunday and takes `0/5` for every fifth once it is told to.
 *
 * @see https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html#cron-based
 */
const patternOf = (schedule: string): string => {
  const fields = /^cron\(([^)]*)\)$/.exec(schedule)?.[1]?.trim().split(/\s+/) ?? [];
  if (fields.length !== 6)
    throw new Error(`${schedule} is no cron(…) of six fields: minute hour day month weekday year`);
  const [, , day, , weekday] = fields;
  if ((day === "?") === (weekday === "?"))
    throw new Error(
      `${schedule} must have ? for the day of the month or the day of the week, and not for both`,
    );
  return ["0", ...fields.map((field) => (field === "?" ? "*" : field))].join(" ");
};

/** A timer by a job's expression and the clock of its zone. Without `fire` it only tells times. */
export const timerOf = (
  { schedule, timeZone }: Pick<Job, "schedule" | "timeZone">,
  fire?: (timer: Cron) => void,
): Cron =>
  new Cron(
    patternOf(schedule),
    { timezone: timeZone, alternativeWeekdays: true, sloppyRanges: true, mode: "7-part" },
    fire,
  );

/** Runs each job at its times, as the schedules of the stacks do. @returns what ends it */
export const startJobs = (
  jobs: readonly Job[],
  invoke: (input: ScheduleInput) => Promise<unknown>,
): (() => void) => {
  const timers = jobs.map((job) =>
    timerOf(job, (timer) => {
      // as EventBridge Scheduler writes it, without milliseconds
      const at = (timer.currentRun() ?? new Date()).toISOString().replace(/:\d\d\.\d+Z$/, ":00Z");
      void invoke(scheduleInput(job.name, at));
    }),
  );
  return () => {
    for (const timer of timers) timer.stop();
  };
};
