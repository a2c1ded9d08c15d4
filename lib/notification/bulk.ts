import { createHash } from "node:crypto";
import type { Draft } from "#lib/messaging/messenger-client.ts";
import { explainPhone, isPhone, maskPhone } from "#lib/messaging/phone.ts";
import type { MessageClass } from "#lib/messaging/submission.ts";
import type { BulkLine } from "./bulk-file.ts";
import {
  bulkScope,
  findBulkRun,
  findInRun,
  openBulkRun,
  requireUncancelled,
  requireUsable,
} from "./bulk-run.ts";
import type { BulkContext } from "./context.ts";
import { explain, maskName, RunError, submitDrafts } from "./dispatch.ts";
import { createDraft, respectsOptOut } from "./draft.ts";
import { digestOf, listOptedOut } from "./opt-out.ts";
import { listOutcomes, type RecipientOutcome, storeOutcomes } from "./recipient.ts";
import { retryDeadline, withRetry } from "./retry.ts";
import { closeRun, type Run } from "./run.ts";
import type { Template } from "./template.ts";

/** A message may be scheduled 30 days ahead. */
export const maxBulkDays = 30;
const dayMs = 24 * 60 * 60_000;
const batchSize = 200;

/** A file of recipients, to be sent once under its name. */
export interface Bulk {
  /** The same name continues a run. */
  readonly name: string;
  readonly template: { readonly name: string } & Template;
  readonly class: MessageClass;
  readonly lines: readonly BulkLine[];
}

export const lineOutcomes = [
  "would be sent",
  "sent before",
  "opted out",
  "invalid number",
  "duplicate",
  "invalid values",
] as const;

/** What to do with a line of the file. */
export interface LineDecision {
  readonly line: number;
  /** The number, masked. */
  readonly masked: string;
  readonly phone: string;
  /** Identifies the number in this run, without showing it; of a line that is not sent, the line. */
  readonly key: string;
  readonly outcome: (typeof lineOutcomes)[number];
  /** Why it is not sent, without personal data. */
  readonly reason?: string;
  readonly draft?: Draft;
}

/** Differs between runs, so that no number can be followed from one to another. */
const keyOf = ({ pepper }: Pick<BulkContext, "pepper">, name: string, phone: string): string =>
  createHash("sha256").update(`${name}|`).update(digestOf(pepper, phone)).digest("hex");

/** Decides about each line, in the order of the file. @param run undefined for a preview of one that has not begun. */
const decide = async (
  context: Pick<BulkContext, "sql" | "pepper">,
  { name, template, class: kind, lines }: Bulk,
  run: string | undefined,
): Promise<LineDecision[]> => {
  const { sql } = context;
  const sent: Template = { ...template, class: kind };
  const phones = [...new Set(lines.map(({ phone }) => phone).filter(isPhone))];
  const keys = new Map(phones.map((phone) => [phone, keyOf(context, name, phone)]));
  const known = await listOutcomes(sql, bulkScope(name), [...keys.values()]);
  const optedOut = respectsOptOut(sent) ? await listOptedOut(context, phones) : new Set<string>();
  const firstLines = new Map<string, number>();
  return lines.map(({ line, phone, values, problem }): LineDecision => {
    const common = { line, masked: maskPhone(phone), phone, key: `line ${line}` };
    if (problem !== undefined) return { ...common, outcome: "invalid values", reason: problem };
    const key = keys.get(phone);
    if (key === undefined)
      return { ...common, outcome: "invalid number", reason: explainPhone(phone || undefined) };
    const first = firstLines.get(phone) ?? line;
    firstLines.set(phone, first);
    if (first !== line) return { ...common, outcome: "duplicate", reason: `the number is on line ${first}` };
    if (known.get(key)?.outcome === "accepted") return { ...common, key, outcome: "sent before" };
    if (optedOut.has(phone)) return { ...common, outcome: "opted out" };
    const created = createDraft({
      template: sent,
      phone,
      values,
      expiresAt: Number.POSITIVE_INFINITY,
      key: `${bulkScope(name).job}|${key}`,
      ...(run && { run }),
    });
    return "draft" in created
      ? { ...common, key, outcome: "would be sent", draft: created.draft }
      : { ...common, outcome: "invalid values", reason: created.reason };
  });
};

const planDays = async (context: BulkContext, decisions: readonly LineDecision[]): Promise<number[]> => {
  const phones = decisions.flatMap(({ phone, draft }) => (draft ? phone : []));
  if (phones.length === 0) return [];
  return withRetry(retryDeadline(context), () => context.plan(phones));
};

const countDays = (days: readonly number[]): number => Math.max(-1, ...days) + 1;

export interface BulkPreview {
  readonly decisions: readonly LineDecision[];
  /** How many days it takes at the present budgets. */
  readonly days: number;
}

/**
 * Shows what a run would do, with masked names, without sending or storing anything.
 *
 * @throws RunError for a name that another template has used, and for a run that was cancelled.
 */
export const previewBulk = async (context: BulkContext, bulk: Bulk): Promise<BulkPreview> => {
  const run = await findBulkRun(context.sql, bulk.name);
  if (run) requireUsable(run, bulk.name, bulk.template.name);
  const decisions = await decide(context, { ...bulk, lines: bulk.lines.map(maskName) }, run?.id);
  return { decisions, days: countDays(await planDays(context, decisions)) };
};

const toResult = ({ line, masked, key, outcome, reason }: LineDecision): RecipientOutcome => ({
  ...{ line, masked, key, reason },
  outcome: outcome === "opted out" ? "opted_out" : "refused",
});

/** A message with the day on which it is to be sent. */
interface Planned extends LineDecision {
  readonly draft: Draft;
  readonly dueAt: string | undefined;
}

/** @throws RunError if they cannot all be scheduled. */
const schedule = (decisions: readonly LineDecision[], days: readonly number[]): Planned[] => {
  const inTime = days.filter((day) => day < maxBulkDays).length;
  if (inTime < days.length)
    throw new RunError(
      `at the present budgets it takes more than ${maxBulkDays} days; send at most ${inTime} recipients now`,
    );
  const now = Date.now();
  const toSend = decisions.flatMap((decision) =>
    decision.draft ? { ...decision, draft: decision.draft } : [],
  );
  return toSend.map((decision, place) => {
    const day = days[place] ?? 0;
    const dueAt = day > 0 ? new Date(now + day * dayMs).toISOString() : undefined;
    return { ...decision, dueAt, draft: { ...decision.draft, ...(dueAt && { send_at: dueAt }) } };
  });
};

const handOver = async (
  context: BulkContext,
  { name }: Bulk,
  run: string,
  planned: readonly Planned[],
): Promise<void> => {
  const found = await findInRun(
    context.sql,
    run,
    planned.map(({ phone }) => phone),
  );
  const fresh = planned.filter(({ phone }) => !found.has(phone));
  const ids = new Map((await submitDrafts(context, fresh)).map(({ key, messageId }) => [key, messageId]));
  const results = planned.map(
    ({ line, masked, key, phone, dueAt }): RecipientOutcome => ({
      ...{ line, masked, key, dueAt },
      outcome: "accepted",
      messageId: ids.get(key) ?? found.get(phone),
    }),
  );
  await storeOutcomes(context.sql, bulkScope(name), run, results);
  await requireUncancelled(context.sql, run);
};

/**
 * Hands over a file's messages, each for the day on which the budgets allow it. Killed or repeated, it continues, and nobody is
 * notified twice.
 *
 * @param onProgress is called with the number of messages handed over so far, and of all.
 * @throws RunError if the run did not finish; the stored run has the same message.
 */
export const sendBulk = async (
  context: BulkContext,
  bulk: Bulk,
  onProgress: (done: number, all: number) => void = () => {},
): Promise<{ readonly run: Run; readonly days: number }> => {
  const { sql } = context;
  const run = await openBulkRun(sql, bulk.name, bulk.template.name);
  try {
    const decisions = await decide(context, bulk, run);
    const days = await planDays(context, decisions);
    const planned = schedule(decisions, days);
    const others = decisions.filter(({ outcome, draft }) => !draft && outcome !== "sent before");
    await storeOutcomes(sql, bulkScope(bulk.name), run, others.map(toResult));
    for (let done = 0; done < planned.length; done += batchSize) {
      onProgress(done, planned.length);
      await handOver(context, bulk, run, planned.slice(done, done + batchSize));
    }
    return { run: await closeRun(sql, run), days: countDays(days) };
  } catch (error) {
    const reason = explain(error);
    await closeRun(sql, run, reason);
    throw new RunError(reason, { cause: error });
  }
};
