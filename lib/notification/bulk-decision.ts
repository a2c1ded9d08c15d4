import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { Draft } from "#lib/messaging/messenger-client.ts";
import { bareDigits, isPhone, maskPhone, phoneRule } from "#lib/messaging/phone.ts";
import type { MessageClass } from "#lib/messaging/submission.ts";
import type { BulkLine } from "./bulk-file.ts";
import { bulkJob, listSentBefore } from "./bulk-run.ts";
import type { BulkContext } from "./context.ts";
import { createDraft, type DraftResult, respectsOptOut } from "./draft.ts";
import { digestOf, listOptedOut } from "./opt-out.ts";
import type { Template } from "./template.ts";

/** A file of recipients, to be sent once under its name. */
export interface Bulk {
  /** The same name continues a run. */
  readonly name: string;
  readonly template: { readonly name: string } & Template;
  readonly class: MessageClass;
  readonly lines: readonly BulkLine[];
  /** The start of the digest of the lines. */
  readonly file: string;
}

export const lineOutcomes = [
  "would be sent",
  "sent before",
  "opted out",
  "invalid number",
  "duplicate",
  "invalid values",
] as const;

/** What to do with a line of the file. Its message is not part of it: those of a whole file would fill the memory. */
export interface LineDecision extends BulkLine {
  /** The number, masked. */
  readonly masked: string;
  /** Identifies the number in this run, without showing it; of a line that is not sent, the line. */
  readonly key: string;
  readonly outcome: (typeof lineOutcomes)[number];
  /** Why it is not sent, without personal data. */
  readonly reason?: string;
}

/** Lines that are decided between two turns of other work: in the messenger, the sender does not wait for a whole file. */
const batchSize = 500;

/** Differs between runs, so that no number can be followed from one to another. */
const keyOf = ({ pepper }: Pick<BulkContext, "pepper">, name: string, phone: string): string =>
  createHash("sha256").update(`${name}|`).update(digestOf(pepper, phone)).digest("hex");

/** Creates the message of a line. @param run undefined for a preview of one that has not begun. */
export const draftLine = (
  { name, template, class: kind }: Pick<Bulk, "name" | "template" | "class">,
  { phone, country, values }: Pick<BulkLine, "phone" | "country" | "values">,
  key: string,
  run: string | undefined,
): DraftResult =>
  createDraft({
    ...{ template: { ...template, class: kind }, phone, values, countries: country && [country.country] },
    expiresAt: Number.POSITIVE_INFINITY,
    key: `${bulkJob(name)}|${key}`,
    ...(run && { run }),
  });

/** @throws Error for a line that would not be sent. */
export const getDraft = (bulk: Bulk, line: LineDecision, run: string): Draft => {
  const created = draftLine(bulk, line, line.key, run);
  if (!("draft" in created)) throw new Error("the line has no message");
  return created.draft;
};

/** Masks what a file has for a number: of a wrong one the first digits say what is wrong. Anything else is masked as a whole. */
const maskCell = (cell: string): string => {
  const digits = bareDigits(cell);
  return isPhone(cell) || !/^\d{5,15}$/.test(digits)
    ? maskPhone(cell)
    : `${digits.slice(0, 4)}${"•".repeat(digits.length - 4)}`;
};

/** Finds the first line of each number. */
const findFirstLines = (lines: readonly BulkLine[]): Map<string, number> => {
  const first = new Map<string, number>();
  for (const { phone, line, problem, phoneProblem } of lines)
    if (problem === undefined && phoneProblem === undefined && !first.has(phone)) first.set(phone, line);
  return first;
};

/** Decides about each line, in the order of the file. */
export const decideLines = async (
  context: Pick<BulkContext, "sql" | "pepper">,
  bulk: Bulk,
): Promise<LineDecision[]> => {
  const { name, template, class: kind, lines } = bulk;
  const first = findFirstLines(lines);
  const decisions: LineDecision[] = [];
  for (let start = 0; start < lines.length; start += batchSize) {
    const batch = lines.slice(start, start + batchSize);
    const phones = [...new Set(batch.map(({ phone }) => phone).filter(isPhone))];
    const keys = new Map(phones.map((phone) => [phone, keyOf(context, name, phone)]));
    const sent = await listSentBefore(context.sql, name, [...keys.values()]);
    const respects = respectsOptOut({ ...template, class: kind });
    const optedOut = respects ? await listOptedOut(context, phones) : new Set<string>();
    const decide = (one: BulkLine): LineDecision => {
      const { line, phone, problem, phoneProblem } = one;
      const common = { ...one, masked: maskCell(phone), key: `line ${line}` };
      if (problem !== undefined) return { ...common, outcome: "invalid values", reason: problem };
      const key = keys.get(phone);
      if (phoneProblem !== undefined || key === undefined)
        return { ...common, outcome: "invalid number", reason: phoneProblem ?? phoneRule };
      if (first.get(phone) !== line)
        return { ...common, outcome: "duplicate", reason: `the number is on line ${first.get(phone)}` };
      if (sent.has(key)) return { ...common, key, outcome: "sent before" };
      if (optedOut.has(phone)) return { ...common, outcome: "opted out" };
      const created = draftLine(bulk, one, key, undefined);
      return "draft" in created
        ? { ...common, key, outcome: "would be sent" }
        : { ...common, outcome: "invalid values", reason: created.reason };
    };
    decisions.push(...batch.map(decide));
    await setImmediate();
  }
  return decisions;
};
