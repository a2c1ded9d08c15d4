import { randomUUID } from "node:crypto";
import { explainPhone, isPhone, maskPhone } from "#lib/messaging/phone.ts";
import type { NotifyContext } from "#lib/notification/context.ts";
import { type Decision, previewJob, RunError, runJob } from "#lib/notification/dispatch.ts";
import { findJob, type Job, jobs } from "#lib/notification/jobs.ts";
import { optIn, optOut } from "#lib/notification/opt-out.ts";
import { listMissed } from "#lib/notification/recipient.ts";
import { listFailedRequests, requestNotification } from "#lib/notification/request.ts";
import { countStates, listRuns, outcomes, type Run } from "#lib/notification/run.ts";
import { findTemplate, getTemplate, templates } from "#lib/notification/templates.ts";
import { timerOf } from "../local/job-schedule.ts";
import { CommandError, runCommand, verbCommand } from "./command.ts";
import { formatTable, formatTime } from "./listing.ts";
import { withNotifier } from "./notifier.ts";

const usage = `Usage:
  npm run notify -- jobs                              lists the jobs and their next run
  npm run notify -- run JOB [--at TIME] [--dry-run]   runs a job now, or for a scheduled time; repeated for the same
                                                      time, it notifies no one twice
  npm run notify -- report JOB|requests [--at TIME]   shows the last runs, or failed requests, and who was not reached
  npm run notify -- replay JOB [--at TIME]            retries recipients who were not reached, by default in all runs
                                                      whose messages have not expired
  npm run notify -- send TEMPLATE PHONE key=value…    sends one notification; --id ID sends it once per ID
  npm run notify -- opt-out PHONE [--undo]            stops reminders to a number

TIME includes a time zone: 2030-01-31T08:00+07:00. Times are shown in UTC.
Jobs: ${jobs.map(({ name }) => name).join(", ")}
Templates: ${Object.keys(templates).join(", ")}

Exit code: 0 all recipients accepted, 2 some were not reached, 1 error.`;

const minuteMs = 60_000;
const maxRuns = 5;
const maxMissed = 100;

const readJob = (name: string | undefined): Job => {
  const job = findJob(name ?? "");
  if (!job)
    throw new CommandError(
      `Unknown job: ${name ?? "(none)"}. Use ${jobs.map((one) => one.name).join(", ")}.`,
    );
  return job;
};

const readTime = (text: string | undefined): Date | undefined => {
  if (text === undefined) return undefined;
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text);
  if (!isTime || Number.isNaN(Date.parse(text)))
    throw new CommandError(`--at must be a time with time zone, such as 2030-01-31T08:00+07:00, not ${text}`);
  return new Date(text);
};

const readPhone = (phone: string | undefined): string => {
  if (phone === undefined || !isPhone(phone)) throw new CommandError(explainPhone(phone));
  return phone;
};

const readValues = (pairs: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    pairs.map((pair) => {
      const [, name, value] = /^(\w+)=([\s\S]*)$/.exec(pair) ?? [];
      if (name === undefined || value === undefined)
        throw new CommandError(`Expected key=value, not ${pair}`);
      return [name, value];
    }),
  );

const listJobs = async (): Promise<number> => {
  const rows = jobs.map((job) => [
    job.name,
    job.schedule,
    job.timeZone,
    formatTime(timerOf(job).nextRun()),
    job.summary,
  ]);
  console.log(formatTable(["job", "schedule", "time zone", "next run", "description"], rows));
  return 0;
};

const showDecision = ({ key, phone, draft, result }: Decision) => {
  const outcome = draft
    ? "would be sent"
    : `${result?.outcome.replace("_", " ")}${result?.reason ? `: ${result.reason}` : ""}`;
  console.log(`${key || "(no key)"}  ${phone === null ? "-" : maskPhone(phone)}  ${outcome}`);
  if (draft?.text) console.log(draft.text.replace(/^/gm, "    "));
};

const preview = async (job: Job, at: Date): Promise<number> => {
  let [messages, skipped] = [0, 0];
  await withNotifier((context) =>
    previewJob(context, job, at, (decisions) => {
      decisions.forEach(showDecision);
      messages += decisions.filter(({ draft }) => draft).length;
      skipped += decisions.filter(({ draft }) => !draft).length;
    }),
  );
  console.log(`Dry run: ${messages} would be sent, ${skipped} would not. Nothing was sent.`);
  return 0;
};

const describeRun = (run: Run) => {
  const counts = outcomes.map((outcome) => `${run[outcome]} ${outcome.replace("_", " ")}`).join(", ");
  const reason = run.reason === null ? "" : `: ${run.reason}`;
  return `${run.job} at ${run.scheduledAt.toISOString()}  ${run.state}${reason}\n  recipients: ${counts}`;
};

const showRun = async ({ sql }: NotifyContext, run: Run): Promise<void> => {
  const [states, missed] = await Promise.all([countStates(sql, run.id), listMissed(sql, run.id, maxMissed)]);
  console.log(describeRun(run));
  if (states.length > 0)
    console.log(`  messages: ${states.map(({ state, count }) => `${count} ${state}`).join(", ")}`);
  for (const { key, outcome, reason } of missed)
    console.log(`  ${key || "(no key)"}  ${outcome}: ${reason ?? ""}`);
  const more = run.refused + run.expired - missed.length;
  if (more > 0) console.log(`  … and ${more} more`);
};

const execute = async (context: NotifyContext, job: Job, at: Date): Promise<number> => {
  const input = { job: job.name, scheduled_time: at.toISOString() };
  const run = await runJob(context, input).catch((error: unknown) => {
    if (error instanceof RunError) throw new CommandError(`${job.name} failed: ${error.message}`);
    throw error;
  });
  await showRun(context, run);
  return run.refused + run.expired > 0 ? 2 : 0;
};

const runNow = (job: Job, at: Date): Promise<number> => {
  if (at.getTime() > Date.now())
    throw new CommandError(`${at.toISOString()} is in the future. Preview it with --dry-run.`);
  return withNotifier((context) => execute(context, job, at));
};

const isUnfinished = ({ state, refused, expired }: Run) => state !== "done" || refused + expired > 0;

const replay = (job: Job, at: Date | undefined): Promise<number> =>
  withNotifier(async (context) => {
    if (at) return execute(context, job, at);
    const maxAgeMs = getTemplate(job.template).expiresInMinutes * minuteMs;
    const runs = (await listRuns(context.sql, job.name, 1_000)).filter(
      (run) => isUnfinished(run) && run.scheduledAt.getTime() > Date.now() - maxAgeMs,
    );
    if (runs.length === 0) console.log(`No failed runs of ${job.name} can be replayed.`);
    let code = 0;
    for (const run of runs.reverse()) code = Math.max(code, await execute(context, job, run.scheduledAt));
    return code;
  });

const reportRuns = (job: Job, at: Date | undefined): Promise<number> =>
  withNotifier(async (context) => {
    const runs = await listRuns(context.sql, job.name, at ? 10_000 : maxRuns);
    const wanted = at ? runs.filter(({ scheduledAt }) => scheduledAt.getTime() === at.getTime()) : runs;
    if (wanted.length === 0)
      throw new CommandError(`No run of ${job.name} ${at ? `at ${at.toISOString()}` : "yet"}`);
    for (const run of wanted) await showRun(context, run);
    return 0;
  });

const reportRequests = (): Promise<number> =>
  withNotifier(async (context) => {
    const rows = (await listFailedRequests(context, maxMissed)).map((request) => [
      formatTime(request.changedAt),
      request.id,
      request.template,
      request.outcome,
      request.reason ?? "",
    ]);
    const header = ["time", "request", "template", "outcome", "reason"];
    console.log(rows.length > 0 ? formatTable(header, rows) : "No failed requests.");
    return 0;
  });

const send = (
  name: string | undefined,
  phone: string,
  values: Record<string, string>,
  id: string,
): Promise<number> => {
  if (!findTemplate(name ?? ""))
    throw new CommandError(
      `Unknown template: ${name ?? "(none)"}. Use ${Object.keys(templates).join(", ")}.`,
    );
  return withNotifier(async (context) => {
    const request = { id, template: name ?? "", phone, values, requestedAt: new Date() };
    const { outcome, reason, messageId } = await requestNotification(context, request);
    if (outcome !== "accepted")
      throw new CommandError(
        `${outcome.replace("_", " ")}: ${reason ?? "this number has opted out of reminders"}`,
      );
    console.log(messageId ? `Accepted as message ${messageId}` : "Accepted by an earlier request.");
    return 0;
  });
};

const setOptOut = (phone: string, undo: boolean): Promise<number> =>
  withNotifier(async ({ sql, pepper }) => {
    const changed = await (undo ? optIn : optOut)(sql, pepper, phone);
    console.log(`${maskPhone(phone)}: reminders ${undo ? "on" : "off"}${changed ? "" : " (unchanged)"}`);
    return 0;
  });

const options = {
  at: { type: "string" },
  "dry-run": { type: "boolean" },
  undo: { type: "boolean" },
  id: { type: "string" },
} as const;

export const run = verbCommand(usage, options, {
  jobs: listJobs,
  "run JOB": async ({ at, "dry-run": isDryRun }, name) => {
    const time = readTime(at) ?? new Date(Math.floor(Date.now() / minuteMs) * minuteMs);
    return (isDryRun ? preview : runNow)(readJob(name), time);
  },
  "report JOB|requests": async ({ at }, name) =>
    name === "requests" ? reportRequests() : reportRuns(readJob(name), readTime(at)),
  "replay JOB": async ({ at }, name) => replay(readJob(name), readTime(at)),
  "send TEMPLATE PHONE key=value…": async ({ id = randomUUID() }, name, phone, ...pairs) =>
    send(name, readPhone(phone), readValues(pairs), id),
  "opt-out PHONE": async ({ undo = false }, phone) => setOptOut(readPhone(phone), undo),
});

if (import.meta.main) await runCommand(run);
