import { createHash } from "node:crypto";
import { Fault } from "#lib/faults/fault.ts";
import type { Draft } from "#lib/messaging/messenger-client.ts";
import { AudienceError, readAudience, type Shown } from "./audience.ts";
import type { Means } from "./context.ts";
import { draftOf, heedsOptOut } from "./draft.ts";
import type { ScheduleInput } from "./event.ts";
import { findJob, type Job } from "./jobs.ts";
import { listOptedOut } from "./opt-out.ts";
import { listTold, noteSeen, type Occasion, occasionOf, recordTold, type Told } from "./recipient.ts";
import { patienceOf, withPatience } from "./retry.ts";
import { closeRun, openRun, type Run } from "./run.ts";
import { getTemplate } from "./templates.ts";

/** A run that came to its end too early. Its message holds no data. */
export class RunError extends Error {
  override readonly name = "RunError";
}

/** What is to become of a recipient: a message that is still to be handed over, or an outcome. */
export interface Decision {
  readonly key: string;
  readonly phone: string | null;
  /** The message; without one, `told` says why there is none. */
  readonly draft?: Draft;
  readonly told?: Told;
}

interface Choice {
  readonly job: Job;
  readonly scheduledAt: Date;
  readonly run?: string;
}

/** Nothing of an execution is in it, so that a run that is repeated makes the same keys. */
const keyOf = ({ job, at }: Occasion, key: string): string =>
  `${job}|${at}|${createHash("sha256").update(key).digest("hex")}`;

const refuse = (key: string, reason: string): Told => ({ key, outcome: "refused", reason });

const decideOne = (
  { job, scheduledAt, run }: Choice,
  optedOut: ReadonlySet<string>,
  shown: Shown,
): Decision => {
  const { key, phone, values, copies } = shown;
  const known = { key, phone };
  if (key === "") return { ...known, told: refuse(key, "dedupe_key is missing") };
  if (copies > 1) return { ...known, told: refuse(key, `dedupe_key comes ${copies} times`) };
  if (phone && optedOut.has(phone)) return { ...known, told: { key, outcome: "opted_out" } };
  const template = getTemplate(job.template);
  const drafted = draftOf({
    ...{ template, phone, values, key: keyOf(occasionOf(job, scheduledAt), key) },
    expiresAt: scheduledAt.getTime() + template.expiresInMinutes * 60_000,
    ...(run && { run }),
  });
  return "draft" in drafted ? { ...known, draft: drafted.draft } : { ...known, told: { key, ...drafted } };
};

/** Decides about those of an audience who have not been told yet. */
const decide = async (
  means: Pick<Means, "sql" | "pepper">,
  choice: Choice,
  shown: readonly Shown[],
): Promise<{ decisions: Decision[]; told: Map<string, Told> }> => {
  const { job, scheduledAt } = choice;
  const told = await listTold(
    means.sql,
    occasionOf(job, scheduledAt),
    shown.map(({ key }) => key),
  );
  const waiting = shown.filter(({ key }) => told.get(key)?.outcome !== "accepted");
  const phones = waiting.flatMap(({ phone }) => phone ?? []);
  const optedOut = heedsOptOut(getTemplate(job.template))
    ? await listOptedOut(means, phones)
    : new Set<string>();
  return { decisions: waiting.map((one) => decideOne(choice, optedOut, one)), told };
};

const handOver = async (means: Means, decisions: readonly Decision[]): Promise<Told[]> => {
  const drafts = decisions.flatMap(({ key, draft }) => (draft ? { key, draft } : []));
  if (drafts.length === 0) return [];
  const ids = await withPatience(patienceOf(means), () =>
    means.submitBatch(drafts.map(({ draft }) => draft)),
  );
  return drafts.map(({ key }, index) => ({ key, outcome: "accepted", messageId: ids[index] }));
};

const isNews = (told: ReadonlyMap<string, Told>) => (one: Told) => {
  const before = told.get(one.key);
  return before?.outcome !== one.outcome || before.reason !== (one.reason ?? null);
};

/** @returns why a run failed, in words that hold no data. */
const explain = (error: unknown): string => {
  if (error instanceof RunError || error instanceof AudienceError) return error.message;
  if (error instanceof Fault) return `the messenger did not take the messages (${error.code})`;
  const { name = "unknown", code } = error as { name?: string; code?: string };
  return `failed by ${code ?? name}`;
};

const work = async (means: Means, choice: Choice & { readonly run: string }): Promise<void> => {
  const { sql, until } = means;
  const { job, scheduledAt, run } = choice;
  const occasion = occasionOf(job, scheduledAt);
  await readAudience(sql, job.audience, scheduledAt, async (shown) => {
    if (Date.now() > until) throw new RunError("there was no more time; the next attempt goes on from here");
    const { decisions, told } = await decide(means, choice, shown);
    const outcomes = [
      ...decisions.flatMap((decision) => decision.told ?? []),
      ...(await handOver(means, decisions)),
    ];
    await recordTold(sql, occasion, run, outcomes.filter(isNews(told)));
    if (job.once === "ever" && told.size > 0) await noteSeen(sql, occasion, [...told.keys()]);
  });
};

/**
 * Runs one scheduled time of a job: everybody whom the audience shows then is told once, however often the run
 * is broken off and repeated.
 *
 * @throws RunError when not everybody was dealt with; the run keeps its message.
 */
export const runJob = async (means: Means, input: ScheduleInput): Promise<Run> => {
  const { sql } = means;
  const scheduledAt = new Date(input.scheduled_time);
  const run = await openRun(sql, input);
  try {
    const job = findJob(input.job);
    if (!job) throw new RunError("there is no such job");
    await work(means, { job, scheduledAt, run });
  } catch (error) {
    const reason = explain(error);
    await closeRun(sql, run, reason);
    // of an audience's error nothing more: its message may quote data
    throw new RunError(reason, error instanceof AudienceError ? {} : { cause: error });
  }
  return closeRun(sql, run);
};

/** Shows what a run would do, a few recipients at a time, and does nothing. */
export const previewJob = async (
  means: Pick<Means, "sql" | "pepper">,
  job: Job,
  scheduledAt: Date,
  show: (decisions: readonly Decision[]) => void,
): Promise<void> =>
  readAudience(means.sql, job.audience, scheduledAt, async (shown) => {
    const { decisions } = await decide(means, { job, scheduledAt }, shown);
    show(decisions);
  });
