import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import type { Draft } from "#lib/messaging/messenger-client.ts";
import type { MessageClass } from "#lib/messaging/submission.ts";
import {
  type Bulk,
  decideLines,
  draftLine,
  getDraft,
  type LineDecision,
  lineOutcomes,
} from "./bulk-decision.ts";
import { readBulkFile } from "./bulk-file.ts";
import {
  closeBulkRun,
  findBulkRun,
  findInRun,
  type LineResult,
  openBulkRun,
  requireUncancelled,
  requireUsable,
  storeLines,
} from "./bulk-run.ts";
import type { BulkContext } from "./context.ts";
import { explain, maskName, RunError, submitDrafts } from "./dispatch.ts";
import type { Run } from "./run.ts";

/** A message may be scheduled 30 days ahead. */
export const maxBulkDays = 30;
const dayMs = 24 * 60 * 60_000;
const batchSize = 200;
const shownMessages = 3;

/** What an operator says about a file. */
export interface BulkOrder {
  readonly template: Bulk["template"];
  readonly class: MessageClass;
  /** By default it follows from the template and what the file contains, so that the same file is sent once. */
  readonly name?: string | undefined;
}

/**
 * Reads a file of recipients.
 *
 * @returns it, and the columns that the template does not have.
 * @throws HeaderError if a column is missing; RunError for more lines than can be planned.
 */
export const readBulk = async (
  input: Readable,
  { template, class: kind, name }: BulkOrder,
): Promise<{ readonly bulk: Bulk; readonly ignored: readonly string[] }> => {
  const { lines, ignored, digest } = await readBulkFile(input, template);
  const file = digest.slice(0, 12);
  return { bulk: { name: name ?? `${template.name}-${file}`, template, class: kind, lines, file }, ignored };
};

/**
 * Identifies what a run would send: its file, how it is sent, the version of its text, and the text that the first line with a
 * message has now. Another version may have changed only what other lines show.
 */
export const fingerprintOf = (bulk: Bulk): string => {
  const { name, template, class: kind, file, lines } = bulk;
  let sample: string | undefined;
  for (const line of lines) {
    const created = draftLine(bulk, line, "", undefined);
    sample = "draft" in created ? created.draft.text : undefined;
    if (sample !== undefined) break;
  }
  const parts = JSON.stringify([name, template.name, template.version, kind, file, sample]);
  return createHash("sha256").update(parts).digest("hex").slice(0, 32);
};

const wouldBeSent = ({ outcome }: LineDecision): boolean => outcome === "would be sent";

const planDays = async (context: BulkContext, decisions: readonly LineDecision[]): Promise<number[]> => {
  const phones = decisions.filter(wouldBeSent).map(({ phone }) => phone);
  return phones.length === 0 ? [] : context.plan(phones);
};

const countDays = (days: readonly number[]): number => Math.max(-1, ...days) + 1;

/** A message of a preview, with the name and the number masked. */
interface PreviewedMessage {
  readonly line: number;
  readonly phone: string;
  readonly text: string;
}

export interface BulkPreview {
  readonly name: string;
  readonly counts: Readonly<Record<LineDecision["outcome"], number>>;
  /** The countries of the numbers that would be sent to, the most frequent first. */
  readonly countries: readonly {
    readonly country: string;
    readonly region: string | undefined;
    readonly count: number;
  }[];
  /** How many days it takes at the present budgets. */
  readonly days: number;
  readonly messages: readonly PreviewedMessage[];
  /** The lines that are not sent and why, without personal data. */
  readonly rejected: readonly {
    readonly line: number;
    readonly phone: string;
    readonly outcome: LineDecision["outcome"];
    readonly reason: string;
  }[];
}

const previewMessages = (bulk: Bulk, decisions: readonly LineDecision[]): PreviewedMessage[] =>
  decisions
    .filter(wouldBeSent)
    .slice(0, shownMessages)
    .map((decision) => {
      const created = draftLine(bulk, maskName(decision), decision.key, undefined);
      const text = "draft" in created ? (created.draft.text ?? "") : "";
      return { line: decision.line, phone: decision.masked, text };
    });

const countCountries = (decisions: readonly LineDecision[]): BulkPreview["countries"] => {
  const counts = new Map<string, BulkPreview["countries"][number]>();
  for (const { country: found } of decisions.filter(wouldBeSent)) {
    if (!found) continue;
    const { country, region } = found;
    const key = `${country} ${region}`;
    counts.set(key, { country, region, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts.values()].toSorted((a, b) => b.count - a.count);
};

/**
 * Shows what a run would do, with masked names, without sending or storing anything.
 *
 * @throws RunError for a name that another template has used, and for a run that was cancelled.
 */
export const previewBulk = async (context: BulkContext, bulk: Bulk): Promise<BulkPreview> => {
  const { name, template } = bulk;
  const run = await findBulkRun(context.sql, name);
  if (run) requireUsable(run, name, template.name);
  const decisions = await decideLines(context, bulk);
  const days = countDays(await planDays(context, decisions));
  const count = (wanted: string) => decisions.filter(({ outcome }) => outcome === wanted).length;
  const counts = Object.fromEntries(lineOutcomes.map((outcome) => [outcome, count(outcome)]));
  const rejected = decisions.flatMap(({ line, masked: phone, outcome, reason }) =>
    reason === undefined ? [] : { line, phone, outcome, reason },
  );
  const messages = previewMessages(bulk, decisions);
  const countries = countCountries(decisions);
  return { name, counts: counts as BulkPreview["counts"], countries, days, messages, rejected };
};

const toResult =
  ({ file }: Bulk) =>
  ({ line, masked, key, outcome, reason }: LineDecision): LineResult => ({
    ...{ line, file, masked, key, reason },
    outcome: outcome === "opted out" ? "opted_out" : "refused",
  });

/** A message with the day on which it is to be sent. */
interface Planned extends LineDecision {
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
  return decisions.filter(wouldBeSent).map((decision, place) => {
    const day = days[place] ?? 0;
    return { ...decision, dueAt: day > 0 ? new Date(now + day * dayMs).toISOString() : undefined };
  });
};

const handOver = async (
  context: BulkContext,
  bulk: Bulk,
  run: string,
  planned: readonly Planned[],
): Promise<void> => {
  const numbers = planned.map(({ phone }) => phone);
  const found = await findInRun(context.sql, run, numbers);
  const fresh = planned
    .filter(({ phone }) => !found.has(phone))
    .map((line) => {
      const draft: Draft = { ...getDraft(bulk, line, run), ...(line.dueAt && { send_at: line.dueAt }) };
      return { key: line.key, draft };
    });
  const ids = new Map((await submitDrafts(context, fresh)).map(({ key, messageId }) => [key, messageId]));
  const results = planned.map(
    ({ line, masked, key, phone, dueAt }): LineResult => ({
      ...{ line, file: bulk.file, masked, key, dueAt },
      outcome: "accepted",
      messageId: ids.get(key) ?? found.get(phone),
    }),
  );
  await storeLines(context.sql, run, results);
  await requireUncancelled(context.sql, run);
};

/** A run that was opened, and the rest of the work. */
export interface StartedBulk {
  /** @throws RunError if the run did not finish; the stored run has the same message. */
  readonly sent: Promise<Run>;
}

/**
 * Hands over a file's messages, each for the day on which the budgets allow it. Killed or repeated, it continues, and nobody is
 * notified twice.
 *
 * @param beforeBatch is called before each batch is handed over; what it throws ends the run.
 * @throws RunError for a name that another template has used, and for a run that was cancelled.
 */
export const startBulk = async (
  context: BulkContext,
  bulk: Bulk,
  beforeBatch: () => void = () => {},
): Promise<StartedBulk> => {
  const { sql } = context;
  const run = await openBulkRun(sql, bulk.name, bulk.template.name, bulk.lines.length);
  const send = async () => {
    const decisions = await decideLines(context, bulk);
    const planned = schedule(decisions, await planDays(context, decisions));
    const others = decisions.filter((one) => !wouldBeSent(one) && one.outcome !== "sent before");
    await storeLines(sql, run, others.map(toResult(bulk)));
    for (let done = 0; done < planned.length; done += batchSize) {
      beforeBatch();
      await handOver(context, bulk, run, planned.slice(done, done + batchSize));
    }
    return closeBulkRun(sql, run);
  };
  const fail = async (error: unknown): Promise<never> => {
    const reason = explain(error);
    await closeBulkRun(sql, run, reason);
    throw new RunError(reason, { cause: error });
  };
  return { sent: send().catch(fail) };
};
