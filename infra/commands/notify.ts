import { randomUUID } from "node:crypto";
import { parseArgs } from "node:util";
import { explainPhone, isPhone, maskPhone } from "#lib/messaging/phone.ts";
import type { Means } from "#lib/notification/context.ts";
import { type Decision, previewJob, RunError, runJob } from "#lib/notification/dispatch.ts";
import { scheduleInput } from "#lib/notification/event.ts";
import { findJob, type Job, jobs } from "#lib/notification/jobs.ts";
import { optIn, optOut } from "#lib/notification/opt-out.ts";
import { listMissed } from "#lib/notification/recipient.ts";
import { listFailedRequests, requestNotification } from "#lib/notification/request.ts";
import { countStates, listRuns, outcomes, type Run } from "#lib/notification/run.ts";
import { findTemplate, getTemplate, templates } from "#lib/notification/templates.ts";
import { timerOf } from "../local/job-schedule.ts";
import { CommandError, command, runCommand } from "./command.ts";
import { formatTable, formatTime } from "./listing.ts";
import { withMeans } from "./notifier.ts";

const usage = `Usage:
  npm run notify -- jobs                              what runs, and when next
  npm run notify -- run JOB [--at TIME] [--dry-run]   hands over to everybody whom the audience shows, once for
                                                      each time; without --at a run of its own, now
  npm run notify -- report JOB|requests [--at TIME]   what became of the last runs, and who was not reached
  npm run notify -- replay JOB [--at TIME]            again what failed, to those who were not told; without --at
                                                      all runs that are not too late
  npm run notify -- send TEMPLATE PHONE key=value…    one notification; --id ID sends it once for that id
  npm run notify -- opt-out PHONE [--undo]            no reminders to this number any more

TIME has a zone: 2030-01-31T08:00+07:00. Times are shown in UTC.
Jobs: ${jobs.map(({ name }) => name).join(", ")}
Templates: ${Object.keys(templates).join(", ")}

Exit code: 0 everybody was told, 2 some were not, 1 it failed.`;

const minuteMs = 60_000;
const shownRuns = 5;
const shownMissed = 100;

const readJob = (name: string | undefined): Job => {
  const job = findJob(name ?? "");
  if (!job)
    throw new CommandError(
      `There is no job ${name ?? ""}; choose one of ${jobs.map((one) => one.name).join(", ")}`,
    );
  return job;
};

const readTime = (text: string): Date => {
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text);
  if (!isTime || Number.isNaN(Date.parse(text)))
    throw new CommandError(`--at must be a time with its zone, such as 2030-01-31T08:00+07:00, not ${text}`);
  return new Date(text);
};

const readPhone = (phone: string | undefined): string => {
  if (phone === undefined || !isPhone(phone, { suffixed: false }))
    throw new CommandError(explainPhone(phone));
  return phone;
};

const readValues = (pairs: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    pairs.map((pair) => {
      const [, name, value] = /^(\w+)=([\s\S]*)$/.exec(pair) ?? [];
      if (name === undefined || value === undefined) throw new CommandError(`${pair} is no key=value`);
      return [name, value];
    }),
  );

const listJobs = (): number => {
  const rows = jobs.map((job) => [
    ...[job.name, job.schedule, job.timeZone, formatTime(timerOf(job).nextRun()), job.summary],
  ]);
  console.log(formatTable(["job", "schedule", "zone", "next", "what it does"], rows));
  return 0;
};

const showDecision = ({ key, phone, draft, told }: Decision) => {
  const what = draft
    ? "would get"
    : `${told?.outcome.replace("_", " ")}${told?.reason ? `: ${told.reason}` : ""}`;
  console.log(`${key || "(no key)"}  ${phone === null ? "-" : maskPhone(phone)}  ${what}`);
  if (draft?.text) console.log(draft.text.replace(/^/gm, "    "));
};

const preview = async (job: Job, at: Date): Promise<number> => {
  let [would, not] = [0, 0];
  await withMeans((means) =>
    previewJob(means, job, at, (decisions) => {
      decisions.forEach(showDecision);
      would += decisions.filter(({ draft }) => draft).length;
      not += decisions.filter(({ draft }) => !draft).length;
    }),
  );
  console.log(`${would} would get a message, ${not} would not; nothing was sent`);
  return 0;
};

const describeRun = (run: Run) => {
  const counts = outcomes.map((outcome) => `${run[outcome]} ${outcome.replace("_", " ")}`).join(", ");
  const reason = run.reason === null ? "" : `: ${run.reason}`;
  return `${run.job} at ${run.scheduledAt.toISOString()}  ${run.state}${reason}\n  recipients: ${counts}`;
};

const showRun = async ({ sql }: Means, run: Run): Promise<void> => {
  const [states, missed] = await Promise.all([
    countStates(sql, run.id),
    listMissed(sql, run.id, shownMissed),
  ]);
  console.log(describeRun(run));
  if (states.length > 0)
    console.log(`  messages: ${states.map(({ state, count }) => `${count} ${state}`).join(", ")}`);
  for (const { key, outcome, reason } of missed)
    console.log(`  ${key || "(no key)"}  ${outcome}: ${reason ?? ""}`);
  const more = run.refused + run.expired - missed.length;
  if (more > 0) console.log(`  … and ${more} more`);
};

const execute = async (means: Means, job: Job, at: Date): Promise<number> => {
  const run = await runJob(means, scheduleInput(job.name, at.toISOString())).catch((error: unknown) => {
    if (error instanceof RunError) throw new CommandError(`${job.name} failed: ${error.message}`);
    throw error;
  });
  await showRun(means, run);
  return run.refused + run.expired > 0 ? 2 : 0;
};

const runNow = (job: Job, at: Date): Promise<number> => {
  if (at.getTime() > Date.now())
    throw new CommandError(`${at.toISOString()} is still to come; --dry-run shows who would be told then`);
  return withMeans((means) => execute(means, job, at));
};

const isUnfinished = ({ state, refused, expired }: Run) => state !== "done" || refused + expired > 0;

const replay = (job: Job, at: Date | undefined): Promise<number> =>
  withMeans(async (means) => {
    if (at) return execute(means, job, at);
    const maxAgeMs = getTemplate(job.template).expiresInMinutes * minuteMs;
    const runs = (await listRuns(means.sql, job.name, 1_000)).filter(
      (run) => isUnfinished(run) && run.scheduledAt.getTime() > Date.now() - maxAgeMs,
    );
    if (runs.length === 0) console.log(`${job.name} has no run that failed and is not too late`);
    let code = 0;
    for (const run of runs.reverse()) code = Math.max(code, await execute(means, job, run.scheduledAt));
    return code;
  });

const reportRuns = (job: Job, at: Date | undefined): Promise<number> =>
  withMeans(async (means) => {
    const runs = await listRuns(means.sql, job.name, at ? 10_000 : shownRuns);
    const wanted = at ? runs.filter(({ scheduledAt }) => scheduledAt.getTime() === at.getTime()) : runs;
    if (wanted.length === 0) throw new CommandError(`${job.name} has not run ${at ? "at this time" : "yet"}`);
    for (const run of wanted) await showRun(means, run);
    return 0;
  });

const reportRequests = (): Promise<number> =>
  withMeans(async (means) => {
    const rows = (await listFailedRequests(means, shownMissed)).map(
      ({ id, template, outcome, reason, changedAt }) => [
        ...[formatTime(changedAt), id, template, outcome, reason ?? ""],
      ],
    );
    console.log(
      rows.length > 0
        ? formatTable(["time", "request", "template", "outcome", "reason"], rows)
        : "none failed",
    );
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
      `There is no template ${name ?? ""}; choose one of ${Object.keys(templates).join(", ")}`,
    );
  return withMeans(async (means) => {
    const request = { id, template: name ?? "", phone, values, requestedAt: new Date() };
    const { outcome, reason, messageId } = await requestNotification(means, request);
    if (outcome !== "accepted")
      throw new CommandError(`${outcome.replace("_", " ")}: ${reason ?? "this number gets no reminders"}`);
    console.log(`accepted as message ${messageId ?? "of an earlier request"}`);
    return 0;
  });
};

const setOptOut = (phone: string, undo: boolean): Promise<number> =>
  withMeans(async ({ sql, pepper }) => {
    const changed = await (undo ? optIn : optOut)(sql, pepper, phone);
    const state = undo ? "gets reminders" : "gets no reminders any more";
    console.log(changed ? `${maskPhone(phone)} ${state}` : `${maskPhone(phone)} ${state}; it was so before`);
    return 0;
  });

export const run = command(usage, async (args) => {
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      at: { type: "string" },
      "dry-run": { type: "boolean", default: false },
      undo: { type: "boolean", default: false },
      id: { type: "string", default: randomUUID() },
    },
  });
  const [verb, name, ...more] = positionals;
  const at = values.at === undefined ? undefined : readTime(values.at);
  const refuseMore = (words: readonly string[]) => {
    if (words.length > 0) throw new CommandError(`${words.join(" ")} is one word too many`);
  };
  if (verb === "send") return send(name, readPhone(more[0]), readValues(more.slice(1)), values.id);
  refuseMore(more);
  const now = new Date(Math.floor(Date.now() / minuteMs) * minuteMs);
  switch (verb) {
    case "jobs":
      refuseMore(positionals.slice(1));
      return listJobs();
    case "run":
      return values["dry-run"] ? preview(readJob(name), at ?? now) : runNow(readJob(name), at ?? now);
    case "report":
      return name === "requests" ? reportRequests() : reportRuns(readJob(name), at);
    case "replay":
      return replay(readJob(name), at);
    case "opt-out":
      return setOptOut(readPhone(name), values.undo);
    default:
      throw new CommandError(`There is no «${verb}»; choose jobs, run, report, replay, send or opt-out`);
  }
});

if (import.meta.main) await runCommand(run);
