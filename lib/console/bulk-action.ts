import type { Readable } from "node:stream";
import { badRequest } from "#lib/errors/invalid-input.ts";
import { HeaderError } from "#lib/import/header.ts";
import { BulkName, type MessageClass } from "#lib/messaging/submission.ts";
import { bulkClasses } from "#lib/notification/bulk-template.ts";
import { RunError } from "#lib/notification/run.ts";
import { maxTemplateLength, TemplateError, TemplateName } from "#lib/notification/template-version.ts";
import type { BulkDesk, BulkWish, ShownPreview } from "./bulk-state.ts";
import type { Notice } from "./login/operator-login.ts";
import type { Acts } from "./panels/acts.ts";
import { type Action, type Form, performAction } from "./perform.ts";
import type { Say } from "./words.ts";

export interface BulkOptions {
  readonly bulk: BulkDesk;
  readonly acts: Acts;
}

/** A form that may have a file. */
export interface BulkForm extends Form {
  readonly file: () => Readable;
  /** Shows a preview in the answer to this form. */
  readonly showPreview: (preview: ShownPreview) => void;
}

/** Explains what is wrong with a file, a run or a template, in words without personal data. */
const explain = (error: unknown, say: Say): string | undefined =>
  error instanceof RunError || error instanceof HeaderError || error instanceof TemplateError
    ? say("failures.rejected", { reason: error.message })
    : undefined;

const readClass = (text: string): MessageClass | undefined => bulkClasses.find((kind) => kind === text);

const readWish = ({ field, say }: Form): BulkWish => {
  const name = field("run").trim() || undefined;
  if (name !== undefined && !BulkName.safeParse(name).success) throw badRequest(say("failures.badRunName"));
  return { template: field("template"), class: readClass(field("class")) ?? "bulk", name };
};

/** Reads `name=rule` from each line. @returns null for none. */
const readParameters = ({ field, say }: Form): Record<string, string> | null => {
  const lines = field("values")
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter(Boolean);
  const pairs = lines.map((line) => {
    const [, name, rule] = /^(\w+)\s*=\s*(\S+)$/.exec(line) ?? [];
    if (name === undefined || rule === undefined) throw badRequest(say("failures.badValues", { line }));
    return [name, rule];
  });
  return pairs.length > 0 ? Object.fromEntries(pairs) : null;
};

const readName = ({ field, say }: Form): string => {
  const name = field("template").trim();
  if (!TemplateName.safeParse(name).success) throw badRequest(say("failures.badTemplateName"));
  return name;
};

const readDraft = (form: Form) => {
  const text = form.field("text").replaceAll("\r\n", "\n").trim();
  if (text.length > maxTemplateLength)
    throw badRequest(form.say("failures.badText", { max: maxTemplateLength }));
  const kind = readClass(form.field("class")) ?? null;
  return { name: readName(form), text, class: kind, parameters: readParameters(form) };
};

const readVersion = ({ field }: Form): number =>
  /^\d{1,6}$/.exec(field("version")) ? Number(field("version")) : 0;

const describeVersion = ({ field }: Form): string | undefined =>
  /^[a-z0-9-]{1,60} ?\d{0,6}$/.exec(`${field("template")} ${field("version")}`.trim())?.[0];

/** 20,000 of the longest texts take 20 s of a core. The page is a form, so that no script gives up before. */
const timeoutMs = 120_000;

const ofOperators = { role: "operator", timeoutMs, subject: describeVersion, explain } as const;

/** What operators do with files of recipients, and with templates. */
const actions = {
  "bulk-preview": {
    ...ofOperators,
    run: async ({ bulk }, form) => {
      form.showPreview(await bulk.preview(form.file(), readWish(form)));
      return form.say("notices.previewed");
    },
    failed: "failures.preview",
  },
  "bulk-start": {
    ...ofOperators,
    run: async ({ bulk }, form) => {
      const run = await bulk.start(form.file(), readWish(form), form.field("previewed"));
      return form.say("notices.started", { run });
    },
    failed: "failures.start",
  },
  "template-add": {
    ...ofOperators,
    run: async ({ bulk }, form) => {
      const draft = readDraft(form);
      const version = await bulk.addTemplate(draft, form.operator);
      return form.say("notices.templateAdded", { name: draft.name, version });
    },
    failed: "failures.template",
  },
  "template-approve": {
    ...ofOperators,
    run: async ({ bulk }, form) => {
      const [name, version] = [readName(form), readVersion(form)];
      await bulk.approveTemplate(name, version, form.operator);
      return form.say("notices.templateApproved", { name, version });
    },
    failed: "failures.template",
  },
  "template-retire": {
    ...ofOperators,
    run: async ({ bulk }, form) => {
      const [name, version] = [readName(form), readVersion(form)];
      await bulk.retireTemplate(name, version);
      return form.say("notices.templateRetired", { name, version });
    },
    failed: "failures.template",
  },
} satisfies Record<string, Action<BulkOptions, BulkForm>>;

type BulkActionName = keyof typeof actions;
export const bulkActionNames = Object.keys(actions) as BulkActionName[];

/** Performs an action on bulk runs or templates, and records it. It never throws: the notice contains the result. */
export const performBulk = (options: BulkOptions, name: BulkActionName, form: BulkForm): Promise<Notice> =>
  performAction<BulkOptions, BulkForm>(options, name, actions[name], form);
