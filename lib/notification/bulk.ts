import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { type Bulk, type BulkLine, maskCell } from "./bulk-file.ts";
import type { BulkContext } from "./context.ts";
import { digestOf } from "./opt-out.ts";
import {
  type Decision,
  decide,
  deliver,
  draftFor,
  type Mailing,
  maskName,
  type Recipient,
} from "./pipeline.ts";
import { findInRun } from "./recipient.ts";
import { bulkJob, finishRun, openBulkRun, type Run, RunError, requireUsable } from "./run.ts";

/** A message may be scheduled 30 days ahead. */
export const maxBulkDays = 30;
const dayMs = 24 * 60 * 60_000;
/** Lines that are decided between two turns of other work: in the messenger, the sender does not wait for a whole file. */
const decidedAtOnce = 500;
const deliveredAtOnce = 200;
const shownMessages = 3;

const mailingOf = ({ name, template }: Bulk): Mailing => ({
  scope: { job: bulkJob(name), at: "-infinity" },
  template,
  expiresAt: Number.POSITIVE_INFINITY,
});

const toRecipient = ({ pepper }: BulkContext, { name, file }: Bulk, line: BulkLine) => {
  const key =
    line.problem === undefined
      ? // differs between runs, so that no number can be followed from one to another
        createHash("sha256").update(`${name}|`).update(digestOf(pepper, line.phone)).digest("hex")
      : `line ${line.line}`;
  return { ...line, key, file, masked: maskCell(line.phone) };
};

/** What to do with a line of the file. Its message is not part of it: those of a whole file would fill the memory. */
type LineDecision = Omit<Decision<ReturnType<typeof toRecipient>>, "draft">;

/** Decides about each line, in the order of the file, and plans in how many days each message could be sent. */
const plan = async (context: BulkContext, bulk: Bulk) => {
  const decisions: LineDecision[] = [];
  for (let start = 0; start < bulk.lines.length; start += decidedAtOnce) {
    const lines = bulk.lines.slice(start, start + decidedAtOnce);
    const recipients = lines.map((line) => toRecipient(context, bulk, line));
    for (const { draft, ...decision } of await decide(context, mailingOf(bulk), recipients))
      decisions.push(decision);
    await setImmediate();
  }
  const toBeSent = decisions.filter(({ outcome }) => outcome === undefined);
  const phones = toBeSent.map(({ phone }) => phone);
  return { decisions, toBeSent, days: phones.length > 0 ? await context.plan(phones) : [] };
};

export const lineOutcomes = [
  "would be sent",
  "sent before",
  "opted out",
  "invalid number",
  "duplicate",
  "invalid values",
] as const;
type LineOutcome = (typeof lineOutcomes)[number];

const outcomeNames = {
  accepted: "sent before",
  opted_out: "opted out",
  refused: "invalid values",
  expired: "invalid values",
} as const;

const outcomeOf = ({ problemKind, outcome }: LineDecision): LineOutcome =>
  problemKind ?? (outcome === undefined ? "would be sent" : outcomeNames[outcome]);

/** Counts numbers by country, the most frequent first. */
const countCountries = (lines: readonly LineDecision[]) => {
  const countries = lines.flatMap(({ country }) => country ?? []);
  const groups = Map.groupBy(countries, ({ country, region }) => `${country} ${region}`);
  return [...groups.values()]
    .flatMap((same) =>
      same.slice(0, 1).map(({ country, region }) => ({ country, region, count: same.length })),
    )
    .toSorted((a, b) => b.count - a.count);
};

const textFor = (bulk: Bulk, recipient: Omit<Recipient, "key">): string | undefined => {
  const created = draftFor(mailingOf(bulk), { ...recipient, key: "" });
  return "draft" in created ? created.draft.text : undefined;
};

/**
 * Identifies what a run would send: its file, how it is sent, the version of its text, and the text that the first line with a
 * message has now. Another version may have changed only what other lines show.
 */
export const fingerprintOf = (bulk: Bulk): string => {
  const { name, template, file, lines } = bulk;
  const texts = lines.values().map((line) => textFor(bulk, line));
  const sample = texts.find((text) => text !== undefined);
  const parts = JSON.stringify([name, template.name, template.version, template.class, file, sample]);
  return createHash("sha256").update(parts).digest("hex").slice(0, 32);
};

/**
 * Shows what a run would do, with masked names, without sending or storing anything.
 *
 * @throws RunError for a name that another template has used, and for a run that was cancelled.
 */
export const previewBulk = async (context: BulkContext, bulk: Bulk) => {
  const { name, template } = bulk;
  await requireUsable(context.sql, name, template.name);
  const { decisions, toBeSent, days } = await plan(context, bulk);
  const count = (wanted: string) => decisions.filter((one) => outcomeOf(one) === wanted).length;
  const counts = Object.fromEntries(lineOutcomes.map((outcome) => [outcome, count(outcome)]));
  return {
    name,
    counts: counts as Readonly<Record<LineOutcome, number>>,
    countries: countCountries(toBeSent),
    /** How many days it takes at the present budgets. */
    days: Math.max(-1, ...days) + 1,
    /** The first messages. */
    messages: toBeSent.slice(0, shownMessages).map((one) => {
      return { line: one.line, phone: one.masked, text: textFor(bulk, maskName(one)) ?? "" };
    }),
    /** The lines that are not sent and why, without personal data. */
    rejected: decisions.flatMap((one) =>
      one.reason ? { line: one.line, phone: one.masked, outcome: outcomeOf(one), reason: one.reason } : [],
    ),
  };
};

export type BulkPreview = Awaited<ReturnType<typeof previewBulk>>;

/** @throws RunError if they cannot all be scheduled. */
const schedule = (lines: readonly LineDecision[], days: readonly number[]) => {
  const inTime = days.filter((day) => day < maxBulkDays).length;
  if (inTime < days.length)
    throw new RunError(
      `at the present budgets it takes more than ${maxBulkDays} days; send at most ${inTime} recipients now`,
    );
  const now = Date.now();
  return lines.map((line, place) => {
    const day = days[place] ?? 0;
    return { ...line, sendAt: day > 0 ? new Date(now + day * dayMs).toISOString() : undefined };
  });
};

/** Submits the messages that the run does not have: what a killed run has submitted may be unrecorded, and its keys expired. */
const submitMissing =
  ({ sql, submitBatch }: BulkContext, run: string): BulkContext["submitBatch"] =>
  async (drafts) => {
    const phones = drafts.map(({ phone }) => phone);
    const found = await findInRun(sql, run, phones);
    const missing = drafts.filter(({ phone }) => !found.has(phone));
    const ids = missing.length > 0 ? await submitBatch(missing) : [];
    return phones.flatMap((phone) => found.get(phone) ?? ids.shift() ?? []);
  };

/**
 * Hands over a file's messages, each for the day on which the budgets allow it. Killed or repeated, it continues, and nobody is
 * notified twice.
 *
 * @param beforeBatch is called before each batch is handed over; what it throws ends the run.
 * @returns the rest of the work, which throws a RunError if the run did not finish; the stored run has the same message.
 * @throws RunError for a name that another template has used, and for a run that was cancelled.
 */
export const startBulk = async (
  context: BulkContext,
  bulk: Bulk,
  beforeBatch: () => void = () => {},
): Promise<{ readonly sent: Promise<Run> }> => {
  const { sql } = context;
  const { name, template, lines } = bulk;
  const run = await openBulkRun(sql, name, template.name, lines.length);
  const mailing = { ...mailingOf(bulk), run };
  const handOver = { ...context, submitBatch: submitMissing(context, run) };
  const send = async () => {
    const { decisions, toBeSent, days } = await plan(context, bulk);
    const scheduled = schedule(toBeSent, days);
    const others = decisions.filter(({ outcome }) => outcome !== undefined);
    await deliver(handOver, mailing, others);
    for (let done = 0; done < scheduled.length; done += deliveredAtOnce) {
      beforeBatch();
      const batch = scheduled.slice(done, done + deliveredAtOnce);
      await deliver(handOver, mailing, await decide(context, mailing, batch));
      await requireUsable(sql, name, template.name);
    }
  };
  return { sent: finishRun(sql, { id: run, job: mailing.scope.job }, send) };
};
