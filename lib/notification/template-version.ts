import type postgres from "postgres";
import * as z from "zod/mini";
import type { MessageClass } from "#lib/messaging/submission.ts";
import { listRules, type Template } from "./template.ts";
import { findTemplate, night } from "./templates.ts";
import { clock, count, day, words } from "./value.ts";

/** The same as that of reminders in code. */
const expiresInMinutes = 12 * 60;
const placeholder = /\{\{(\w+)\}\}/g;
const maxWords = 400;

export const TemplateName = z.string().check(z.regex(/^[a-z0-9-]{1,60}$/));
/** In characters. */
export const maxTemplateLength = 4_096;

/** What a value of a template in the database may be, besides `words:<max>`. */
const kinds: Readonly<Record<string, z.ZodMiniType>> = { count, day, clock };

/** @returns undefined for what is no rule. */
const findSchema = (rule: string): z.ZodMiniType | undefined => {
  const [, most] = /^words:(\d{1,3})$/.exec(rule) ?? [];
  if (most === undefined) return Object.hasOwn(kinds, rule) ? kinds[rule] : undefined;
  return Number(most) > 0 && Number(most) <= maxWords ? words(Number(most)) : undefined;
};

/** A version of a template, as an operator wrote it. */
export interface TemplateDraft {
  readonly name: string;
  /** With `{{name}}` where a value goes. */
  readonly text: string;
  /** Of a template that code does not have; otherwise null, as are the parameters. */
  readonly class: MessageClass | null;
  /** The rule of each value, by its name. */
  readonly parameters: Readonly<Record<string, string>> | null;
}

export interface TemplateVersion extends TemplateDraft {
  readonly version: number;
  /** `approved` replaces all versions before, and that in code. */
  readonly status: "draft" | "approved" | "retired";
  readonly author: string;
  readonly createdAt: Date;
  readonly approver: string | null;
}

/** An operator who changes templates. */
export interface TemplateEditor {
  /** The account of a login at the console. */
  readonly id: string;
  /** For display only. */
  readonly name: string;
}

/** A version cannot be stored or approved. The message says what to do. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
}

/** Fills in the values, and leaves out each line of which an optional value is missing. */
const fill =
  (text: string) =>
  (values: Readonly<Record<string, unknown>>): string =>
    text
      .split("\n")
      .filter((line) => [...line.matchAll(placeholder)].every(([, name = ""]) => values[name] !== undefined))
      .map((line) => line.replace(placeholder, (_, name: string) => String(values[name])))
      .join("\n");

/** @throws TemplateError for a text, a class or parameters that do not fit. */
const toTemplate = ({ name, text, class: kind, parameters }: TemplateDraft): Template => {
  const coded = findTemplate(name);
  if (coded && (kind ?? parameters))
    throw new TemplateError(`${name} is a template in code: its class and its values cannot be changed here`);
  if (coded) return { ...coded, text: fill(text) };
  if (!kind || !parameters)
    throw new TemplateError(`${name} is not a template in code: give its class and its values`);
  const schemas = Object.entries(parameters).map(([value, rule]): [string, z.ZodMiniType] => {
    const schema = findSchema(rule);
    // the column of the number
    if (!schema || value === "phone" || !/^[a-z_]{1,40}$/.test(value))
      throw new TemplateError(
        `Invalid value: ${value}=${rule}. Use name=rule with one of words:60 (1 to ${maxWords} characters), ${Object.keys(kinds).join(", ")}`,
      );
    return [value, schema];
  });
  const values = z.object(Object.fromEntries(schemas)) as unknown as Template["values"];
  return { values, text: fill(text), class: kind, expiresInMinutes, quietHours: night };
};

/** Finds the template with this name: the latest approved version, or else the one in code. */
export const resolveTemplate = async (sql: postgres.ISql, name: string): Promise<Template | undefined> => {
  const [stored] = await sql<(TemplateDraft & { version: number })[]>`
    select name, version, text, class, parameters from notification.template
    where name = ${name} and approver is not null and retired_at is null order by version desc limit 1`;
  return stored ? { ...toTemplate(stored), version: stored.version } : findTemplate(name);
};

/** @throws TemplateError for a text that would show anything but itself and its values. */
const requireText = (text: string, rules: Readonly<Record<string, string>>): void => {
  const names = Object.keys(rules).join(", ");
  const unknown = [...text.matchAll(placeholder)].find(([, value = ""]) => !Object.hasOwn(rules, value));
  if (unknown) throw new TemplateError(`The text has ${unknown[0]}, but the values are ${names}`);
  if (/\{\{|\}\}/.test(text.replace(placeholder, "")))
    throw new TemplateError(
      `The text has braces without a value: write {{name}}, without spaces, with one of ${names}`,
    );
  if (text.trim() === "" || /[\0\uFFFD]/.test(text))
    throw new TemplateError("The text is empty or not UTF-8: save the file as UTF-8");
};

/** Stores a new version as a draft. @returns its number. @throws TemplateError */
export const addVersion = async (
  sql: postgres.Sql,
  draft: TemplateDraft,
  author: TemplateEditor,
): Promise<number> => {
  const { name, text, class: kind, parameters } = draft;
  requireText(text, listRules(toTemplate(draft)));
  const [row] = await sql<{ version: number | null }[]>`
    select notification.add_template(
      ${name}, ${text}, ${kind}, ${JSON.stringify(parameters)}::text::jsonb, ${author.id}) as version`;
  if (typeof row?.version !== "number")
    throw new TemplateError(`Another version of ${name} was added meanwhile. Try again`);
  return row.version;
};

/**
 * Approves a draft: from now on its text is sent.
 *
 * @throws TemplateError for its author, for anything but a draft, and for one that a later version has replaced.
 */
export const approveVersion = async (
  sql: postgres.Sql,
  name: string,
  version: number,
  approver: TemplateEditor,
): Promise<void> => {
  const [draft] = await sql<{ isAuthor: boolean; later: number | null }[]>`
    select lower(author) = lower(${approver.id}) as "isAuthor", (
      select max(version) from notification.template later
      where later.name = draft.name and later.version > draft.version and approver is not null and retired_at is null) as later
    from notification.template draft
    where name = ${name} and version = ${version} and approver is null and retired_at is null`;
  if (!draft) throw new TemplateError(`No draft ${name} ${version}`);
  if (draft.isAuthor) throw new TemplateError(`${approver.name} wrote it: another operator must approve it`);
  if (draft.later !== null)
    throw new TemplateError(
      `${name} ${draft.later} is sent: retire it first, or add the text as a new version`,
    );
  const [row] = await sql<{ isApproved: boolean }[]>`
    select notification.approve_template(${name}, ${version}, ${approver.id}) as "isApproved"`;
  if (!row?.isApproved) throw new TemplateError(`No draft ${name} ${version}`);
};

/** Retires a version: the approved one before it is sent again, or that in code. @throws TemplateError for an unknown one. */
export const retireVersion = async (sql: postgres.Sql, name: string, version: number): Promise<void> => {
  const [row] = await sql<{ isRetired: boolean }[]>`
    select notification.retire_template(${name}, ${version}) as "isRetired"`;
  if (!row?.isRetired) throw new TemplateError(`No version ${name} ${version} that is not retired`);
};

/** Lists versions, the newest of each name first. */
export const listVersions = (sql: postgres.Sql) => sql<TemplateVersion[]>`
  select name, version, text, class, parameters, author, created_at as "createdAt", approver,
    case when retired_at is not null then 'retired' when approver is null then 'draft' else 'approved' end as status
  from notification.template order by name, version desc`;
