import type postgres from "postgres";
import { readAudience } from "./audience.ts";
import type { NotifyContext } from "./context.ts";
import type { ScheduleInput } from "./event.ts";
import { findJob, type Job } from "./jobs.ts";
import { type Decision, decide, deliver, type Mailing, maskName } from "./pipeline.ts";
import { markSeen } from "./recipient.ts";
import { finishRun, openRun, type Run, RunError } from "./run.ts";
import { resolveTemplate } from "./template-version.ts";

const getMailing = async (
  sql: postgres.Sql,
  { name, template: wanted, once }: Job,
  scheduledAt: Date,
): Promise<Mailing> => {
  const template = await resolveTemplate(sql, wanted);
  if (!template) throw new RunError("unknown template");
  const expiresAt = scheduledAt.getTime() + template.expiresInMinutes * 60_000;
  const at = once === "run" ? scheduledAt.toISOString() : "-infinity";
  return { scope: { job: name, at }, template, expiresAt };
};

const notifyAudience = async (
  context: NotifyContext,
  job: Job,
  scheduledAt: Date,
  run: string,
): Promise<void> => {
  const { sql, until } = context;
  const mailing = { ...(await getMailing(sql, job, scheduledAt)), run };
  await readAudience(sql, job.audience, scheduledAt, async (rows) => {
    if (Date.now() > until) throw new RunError("out of time; the next attempt continues from here");
    const decisions = await decide(context, mailing, rows);
    await deliver(context, mailing, decisions);
    if (job.once !== "ever") return;
    const known = decisions.flatMap((decision) => decision.known?.key ?? []);
    await markSeen(sql, mailing.scope, known);
  });
};

/**
 * Runs a job for one scheduled time. Everyone in its audience is notified once, even if the run is interrupted and
 * retried.
 *
 * @throws RunError if the run did not finish; the stored run has the same message.
 */
export const runJob = async (context: NotifyContext, input: ScheduleInput): Promise<Run> => {
  const { job: name, scheduled_time } = input;
  const id = await openRun(context.sql, input);
  return finishRun(context.sql, { id, job: name }, async () => {
    const job = findJob(name);
    if (!job) throw new RunError("unknown job");
    await notifyAudience(context, job, new Date(scheduled_time), id);
  });
};

/**
 * Shows what a run would do for those who have no message yet, in batches, with masked names, without sending or storing
 * anything.
 */
export const previewJob = async (
  context: Pick<NotifyContext, "sql" | "pepper">,
  job: Job,
  scheduledAt: Date,
  show: (decisions: readonly Decision[]) => void,
): Promise<void> => {
  const mailing = await getMailing(context.sql, job, scheduledAt);
  await readAudience(context.sql, job.audience, scheduledAt, async (rows) => {
    const decisions = await decide(context, mailing, rows.map(maskName));
    show(decisions.filter(({ outcome }) => outcome !== "accepted"));
  });
};
