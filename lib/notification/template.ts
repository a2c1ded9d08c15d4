import * as z from "zod/mini";
import type { MessageClass } from "#lib/messaging/submission.ts";
import type { QuietHours } from "#lib/messaging/times.ts";
import { valueRules } from "./value.ts";

/** The text of a notification and its attached file. */
export interface Content {
  readonly text: string;
  readonly file?: { readonly url: string; readonly name: string } | undefined;
}

/** One kind of notification: its values, its text and its delivery options. */
export interface Template<V = never> {
  readonly values: z.ZodMiniType<V>;
  /** Of a text in the database. */
  readonly version?: number;
  /** In Indonesian, with WhatsApp formatting: `*bold*`, `_italic_`. */
  readonly text: (values: V) => string;
  /** The attached file; the text becomes its caption. */
  readonly file?: (values: V) => { readonly url: string; readonly name: string };
  /** Determines the priority. `reminder` and `bulk` messages are not sent to opted-out numbers. */
  readonly class: MessageClass;
  /** The message is not sent later than this after the scheduled time or the event. */
  readonly expiresInMinutes: number;
  /** When the message is held back; without quiet hours it is sent at any time. */
  readonly quietHours?: Omit<QuietHours, "time_zone">;
}

/** Infers the type of the values from their schema. */
export const template = <V>(parts: Template<V>): Template<V> => parts;

/** Lists the values of a template, with what each must be. */
const listValues = ({ values }: Template) =>
  Object.entries((values as unknown as z.ZodMiniObject).shape).map(([name, schema]) => {
    const isOptional = schema instanceof z.ZodMiniOptional;
    const { rule = "", example = "" } = valueRules.get(isOptional ? schema._zod.def.innerType : schema) ?? {};
    return { name, isOptional, rule, example };
  });

/** Lists the values that a template can do without. */
export const listOptional = (template: Template): string[] =>
  listValues(template).flatMap(({ name, isOptional }) => (isOptional ? name : []));

/** Returns what each value of a template must be, by its name. */
export const listRules = (template: Template): Record<string, string> =>
  Object.fromEntries(
    listValues(template).map(({ name, rule, isOptional }) => [name, isOptional ? `${rule}, optional` : rule]),
  );

/** Returns a value that fits, for each that a template has. */
export const listExamples = (template: Template): string[] =>
  listValues(template).map(({ example }) => example);

/** A value is missing or invalid. The message names the value without quoting it. */
export class ValueError extends Error {
  override readonly name = "ValueError";
}

/** Renders a template. @throws ValueError that names each missing or invalid value. */
export const render = (template: Template, values: unknown): Content => {
  const parsed = z.safeParse(template.values as z.ZodMiniType<never>, values ?? {});
  if (parsed.success) return { text: template.text(parsed.data), file: template.file?.(parsed.data) };
  const given = (typeof values === "object" && values) || {};
  // a blank cell of a file is a missing value
  const isMissing = (name: string) => String((given as Record<string, unknown>)[name] ?? "").trim() === "";
  const names = [...new Set(parsed.error.issues.map(({ path }) => String(path[0] ?? "values")))];
  throw new ValueError(
    names.map((name) => `${name} ${isMissing(name) ? "is missing" : "is invalid"}`).join(", "),
  );
};
