import { Cron } from "croner";
import { findSetting } from "#lib/config.ts";
import type { ScheduleInput } from "#lib/notification/event.ts";
import type { Job } from "#lib/notification/jobs.ts";
import type { InternalFunction } from "#lib/routes/internal.ts";

/**
 * Converts an EventBridge Scheduler expression for croner, which expects seconds first. Options of `timerOf` make it
 * count weekdays from 1 for Sunday and accept `0/5`.
 *
 * @see https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html#cron-based
 */
const patternOf = (schedule: string): string => {
  const fields = /^cron\(([^)]*)\)$/.exec(schedule)?.[1]?.trim().split(/\s+/) ?? [];
  if (fields.length !== 6)
    throw new Error(`${schedule} must be cron(…) with six fields: minute hour day month weekday year`);
  const [, , day, , weekday] = fields;
  if ((day === "?") === (weekday === "?"))
    throw new Error(`${schedule} must have ? for either the day of the month or the day of the week`);
  return ["0", ...fields.map((field) => (field === "?" ? "*" : field))].join(" ");
};

/** Creates a timer for a job's schedule, in the city's time. Without `fire` it only computes times. */
export const timerOf = (
  { schedule }: Pick<Job, "schedule">,
  fire?: (timer: Cron) => void,
  timezone = findSetting("TIME_ZONE"),
): Cron =>
  new Cron(
    patternOf(schedule),
    { timezone, alternativeWeekdays: true, sloppyRanges: true, mode: "7-part" },
    fire,
  );

/** Runs each job on its schedule, like EventBridge Scheduler. @returns a function that stops it. */
export const startJobs = (
  jobs: readonly Job[],
  invoke: (input: ScheduleInput) => Promise<unknown>,
): (() => void) => {
  const timers = jobs.map((job) =>
    timerOf(job, (timer) => {
      // without milliseconds, like EventBridge Scheduler
      const at = (timer.currentRun() ?? new Date()).toISOString().replace(/:\d\d\.\d+Z$/, ":00Z");
      void invoke({ job: job.name, scheduled_time: at });
    }),
  );
  return () => {
    for (const timer of timers) timer.stop();
  };
};

/** Runs each periodic function now and then at its interval. @returns a function that stops it. */
export const startSchedule = (
  functions: readonly InternalFunction[],
  invoke: (fn: string) => Promise<unknown>,
): (() => void) => {
  const timers = functions.flatMap(({ fn, everyMinutes }) => {
    if (everyMinutes === undefined) return [];
    void invoke(fn);
    return setInterval(() => void invoke(fn), everyMinutes * 60_000);
  });
  return () => timers.forEach(clearInterval);
};
