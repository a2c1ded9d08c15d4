import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ScheduleInput } from "#lib/notification/event.ts";
import { type Job, jobs } from "#lib/notification/jobs.ts";
import { startJobs, timerOf } from "../../infra/local/job-schedule.ts";

/** The next times after a moment, in UTC to the minute. */
const nextTimes = (schedule: Job["schedule"], from: string, count = 3, timeZone = "Asia/Jakarta") =>
  timerOf({ schedule }, undefined, timeZone)
    .nextRuns(count, new Date(from))
    .map((time) => time.toISOString().slice(0, 16));

describe("an expression of EventBridge Scheduler fires", () => {
  test.each<[string, Job["schedule"], string[]]>([
    [
      "daily, by the zone's clock",
      "cron(0 8 * * ? *)",
      ["2026-11-21T01:00", "2026-11-22T01:00", "2026-11-23T01:00"],
    ],
    [
      "every so many minutes from one on",
      "cron(5/20 * * * ? *)",
      ["2026-11-21T00:05", "2026-11-21T00:25", "2026-11-21T00:45"],
    ],
    [
      "in office hours of weekdays",
      "cron(0/30 8-15 ? * MON-FRI *)",
      ["2026-11-23T01:00", "2026-11-23T01:30", "2026-11-23T02:00"],
    ],
    [
      "on weekdays counted from 1 for Sunday",
      "cron(0 7 ? * 2,7 *)",
      ["2026-11-21T00:00", "2026-11-23T00:00", "2026-11-28T00:00"],
    ],
    [
      "on the last day of the month",
      "cron(0 12 L * ? *)",
      ["2026-11-30T05:00", "2026-12-31T05:00", "2027-01-31T05:00"],
    ],
    [
      "on the first Monday",
      "cron(0 9 ? * 2#1 *)",
      ["2026-12-07T02:00", "2027-01-04T02:00", "2027-02-01T02:00"],
    ],
    [
      "on the last Friday",
      "cron(0 9 ? * 6L *)",
      ["2026-11-27T02:00", "2026-12-25T02:00", "2027-01-29T02:00"],
    ],
    [
      "on the weekday next to a date",
      "cron(0 9 15W 11-12 ? *)",
      ["2026-12-15T02:00", "2027-11-15T02:00", "2027-12-15T02:00"],
    ],
    [
      "in named months of some years",
      "cron(0 0 1 JAN,JUL ? 2027-2028)",
      ["2026-12-31T17:00", "2027-06-30T17:00", "2027-12-31T17:00"],
    ],
  ])("%s", (_, schedule, expected) => {
    expect(nextTimes(schedule, "2026-11-20T23:59:59Z")).toEqual(expected);
  });

  test("at the same local hour before and after a clock change", () => {
    expect(nextTimes("cron(0 8 * * ? *)", "2026-10-23T12:00Z", 3, "Europe/Berlin")).toEqual([
      ...["2026-10-24T06:00", "2026-10-25T07:00", "2026-10-26T07:00"],
    ]);
  });

  test.each([
    "cron(0 8 * * *)",
    "cron(0 8 * * * *)",
    "cron(0 8 ? * ? *)",
    "rate(5 minutes)",
    "cron(61 8 * * ? *)",
  ])("but not %s, which AWS rejects too", (schedule) => {
    expect(() => timerOf({ schedule: schedule as Job["schedule"] })).toThrow();
  });
});

test("each job has a schedule of its name that fires, in an existing time zone", () => {
  for (const job of jobs) expect(timerOf(job).nextRun()).toBeInstanceOf(Date);
  expect(new Set(jobs.map(({ name }) => name)).size).toBe(jobs.length);
  for (const { name, audience } of jobs) {
    expect(name).toMatch(/^[a-z][a-z0-9-]{1,40}$/);
    expect(audience).toMatch(/^[a-z][a-z0-9_]{1,60}$/);
  }
});

test("a timer passes the job and its scheduled time, to the second", async () => {
  vi.useFakeTimers({ now: new Date("2026-11-21T00:59:58Z") });
  onTestFinished(() => void vi.useRealTimers());
  const inputs: ScheduleInput[] = [];
  const [first] = jobs;
  if (!first) throw new Error("there are no jobs");
  const stop = startJobs([first], async (input) => inputs.push(input));
  await vi.advanceTimersByTimeAsync(5_000);
  stop();
  await vi.advanceTimersByTimeAsync(86_400_000);
  expect(inputs).toEqual([{ job: first.name, scheduled_time: "2026-11-21T01:00:00Z" }]);
  expect(ScheduleInput.safeParse(inputs[0]).success).toBe(true);
});
