import { createHash } from "node:crypto";
import type postgres from "postgres";
import { ApiError } from "#lib/errors/api-error.ts";
import type { Draft } from "#lib/messaging/messenger-client.ts";
import { AudienceError, type AudienceRow, readAudience } from "./audience.ts";
import { type NotifyContext, retryDeadline, withRetry } from "./context.ts";
import { createDraft, respectsOptOut } from "./draft.ts";
import type { ScheduleInput } from "./event.ts";
import { findJob, type Job } from "./jobs.ts";
import { listOptedOut } from "./opt-out.ts";
import {
  type DedupeScope,
  dedupeScopeOf,
  listOutcomes,
  markSeen,
  type RecipientOutcome,
  storeOutcomes,
} from "./recipient.ts";
import { closeRun, openRun, type Run } from "./run.ts";
import type { Template } from "./template.ts";
import { resolveTemplate } from "./template-version.ts";

/** A run did not finish. The message contains no personal data. */
export class RunError extends Error {
  override readonly name = "RunError";
}

/** What to do for one recipient: send a message, or record an outcome. */
export interface Decision {
  readonly key: string;
  readonly phone: string | null;
  readonly draft?: Draft;
  /** Why there is no message. */
  readonly result?: RecipientOutcome;
}

interface ScheduledJob {
  readonly job: Job;
  readonly template: Template;
  readonly scheduledAt: Date;
  readonly run?: string;
}

/** Idempotency key of a message. Does not depend on the execution, so that a retried run repeats its keys. */
const messageKeyOf = ({ job, at }: DedupeScope, key: string): string =>
  `${job}|${at}|${createHash("sha256").update(key).digest("hex")}`;

const refuse = (key: string, reason: string): RecipientOutcome => ({ key, outcome: "refused", reason });

const decideOne = (
  { job, template, scheduledAt, run }: ScheduledJob,
  optedOut: ReadonlySet<string>,
  { key, phone, values, copies }: AudienceRow,
): Decision => {
  const recipient = { key, phone };
  if (key === "") return { ...recipient, result: refuse(key, "dedupe_key is missing") };
  if (copies > 1) return { ...recipient, result: refuse(key, `dedupe_key occurs ${copies} times`) };
  if (phone && optedOut.has(phone)) return { ...recipient, result: { key, outcome: "opted_out" } };
  const created = createDraft({
    template,
    phone,
    values,
    key: messageKeyOf(dedupeScopeOf(job, scheduledAt), key),
    expiresAt: scheduledAt.getTime() + template.expiresInMinutes * 60_000,
    ...(run && { run }),
  });
  return "draft" in created ? { ...recipient, ...created } : { ...recipient, result: { key, ...created } };
};

/** Decides about the recipients who have not been notified yet. */
const decide = async (
  context: Pick<NotifyContext, "sql" | "pepper">,
  scheduled: ScheduledJob,
  rows: readonly AudienceRow[],
): Promise<{ decisions: Decision[]; known: Map<string, RecipientOutcome> }> => {
  const { job, template, scheduledAt } = scheduled;
  const known = await listOutcomes(
    context.sql,
    dedupeScopeOf(job, scheduledAt),
    rows.map(({ key }) => key),
  );
  const pending = rows.filter(({ key }) => known.get(key)?.outcome !== "accepted");
  const phones = pending.flatMap(({ phone }) => phone ?? []);
  const optedOut = respectsOptOut(template) ? await listOptedOut(context, phones) : new Set<string>();
  return { decisions: pending.map((row) => decideOne(scheduled, optedOut, row)), known };
};

export const submitDrafts = async (
  context: Pick<NotifyContext, "submitBatch" | "until" | "maxWaitMs">,
  decisions: readonly Pick<Decision, "key" | "draft">[],
): Promise<RecipientOutcome[]> => {
  const drafts = decisions.flatMap(({ key, draft }) => (draft ? { key, draft } : []));
  if (drafts.length === 0) return [];
  const ids = await withRetry(retryDeadline(context), () =>
    context.submitBatch(drafts.map(({ draft }) => draft)),
  );
  return drafts.map(({ key }, index) => ({ key, outcome: "accepted", messageId: ids[index] }));
};

const isChange = (known: ReadonlyMap<string, RecipientOutcome>) => (result: RecipientOutcome) => {
  const before = known.get(result.key);
  return before?.outcome !== result.outcome || before.reason !== (result.reason ?? null);
};

/** @returns why a run failed, without personal data. */
export const explain = (error: unknown): string => {
  if (error instanceof RunError || error instanceof AudienceError) return error.message;
  if (error instanceof ApiError) return `the messenger did not accept the messages (${error.code})`;
  const { name = "unknown", code } = error as { name?: string; code?: string };
  return `failed with ${code ?? name}`;
};

const getJobTemplate = async (sql: postgres.Sql, { template: name }: Job): Promise<Template> => {
  const template = await resolveTemplate(sql, name);
  if (!template) throw new RunError("unknown template");
  return template;
};

const notifyAudience = async (
  context: NotifyContext,
  scheduled: ScheduledJob & { readonly run: string },
): Promise<void> => {
  const { sql, until } = context;
  const { job, scheduledAt, run } = scheduled;
  const scope = dedupeScopeOf(job, scheduledAt);
  await readAudience(sql, job.audience, scheduledAt, async (rows) => {
    if (Date.now() > until) throw new RunError("out of time; the next attempt continues from here");
    const { decisions, known } = await decide(context, scheduled, rows);
    const results = [
      ...decisions.flatMap(({ result }) => result ?? []),
      ...(await submitDrafts(context, decisions)),
    ];
    await storeOutcomes(sql, scope, run, results.filter(isChange(known)));
    if (job.once === "ever" && known.size > 0) await markSeen(sql, scope, [...known.keys()]);
  });
};

/**
 * Runs a job for one scheduled time. Everyone in its audience is notified once, even if the run is interrupted and
 * retried.
 *
 * @throws RunError if the run did not finish; the stored run has the same message.
 */
export const runJob = async (context: NotifyContext, input: ScheduleInput): Promise<Run> => {
  const { sql } = context;
  const scheduledAt = new Date(input.scheduled_time);
  const run = await openRun(sql, input);
  try {
    const job = findJob(input.job);
    if (!job) throw new RunError("unknown job");
    const template = await getJobTemplate(sql, job);
    await notifyAudience(context, { job, template, scheduledAt, run });
  } catch (error) {
    const reason = explain(error);
    await closeRun(sql, run, reason);
    // the cause of an AudienceError may quote data
    throw new RunError(reason, error instanceof AudienceError ? {} : { cause: error });
  }
  return closeRun(sql, run);
};

/** Masks all but the first letter of each word of a recipient's name. */
export const maskName = <R extends { readonly values: unknown }>(row: R): R => {
  const { name } = (row.values ?? {}) as { name?: unknown };
  if (typeof name !== "string") return row;
  return { ...row, values: { ...(row.values as object), name: name.replace(/(?<=\p{L})\p{L}/gu, "•") } };
};

/** Shows what a run would do, in batches, with masked names, without sending or storing anything. */
export const previewJob = async (
  context: Pick<NotifyContext, "sql" | "pepper">,
  job: Job,
  scheduledAt: Date,
  show: (decisions: readonly Decision[]) => void,
): Promise<void> => {
  const template = await getJobTemplate(context.sql, job);
  await readAudience(context.sql, job.audience, scheduledAt, async (rows) => {
    const { decisions } = await decide(context, { job, template, scheduledAt }, rows.map(maskName));
    show(decisions);
  });
};
