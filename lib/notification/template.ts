import * as z from "zod/mini";
import type { QuietHours } from "#lib/messaging/quiet-hours.ts";
import type { MessageClass } from "#lib/messaging/submission.ts";

/** What a notification says, and the file that comes with it. */
export interface Content {
  readonly text: string;
  readonly file?: { readonly url: string; readonly name: string } | undefined;
}

/** One kind of notification: which values it needs, what it says, and how it is to be treated on its way. */
export interface Template<V = never> {
  readonly values: z.ZodMiniType<V>;
  /** In Indonesian, with WhatsApp's marks: `*bold*`, `_italic_`. */
  readonly text: (values: V) => string;
  /** The file that the text stands below. */
  readonly file?: (values: V) => { readonly url: string; readonly name: string };
  /** Which goes first. A `reminder` and a `bulk` message do not go to who has opted out. */
  readonly class: MessageClass;
  /** After so long, from the scheduled time or the event on, it is not sent any more. */
  readonly expiresInMinutes: number;
  /** When it waits; without, it goes out at any hour. */
  readonly quietHours?: QuietHours;
}

/** Infers the values' type from their schema; at run time it is the template. */
export const template = <V>(parts: Template<V>): Template<V> => parts;

/** A value that is missing or breaks its rule. The message names it and says nothing of what it holds. */
export class ValueError extends Error {
  override readonly name = "ValueError";
}

/** Fills a template in. @throws ValueError that names each value that is missing or cannot be used. */
export const render = (template: Template, values: unknown): Content => {
  const parsed = z.safeParse(template.values as z.ZodMiniType<never>, values ?? {});
  if (parsed.success) return { text: template.text(parsed.data), file: template.file?.(parsed.data) };
  const given = (typeof values === "object" && values) || {};
  const isMissing = (name: string) => (given as Record<string, unknown>)[name] === undefined;
  const names = [...new Set(parsed.error.issues.map(({ path }) => String(path[0] ?? "values")))];
  throw new ValueError(
    names.map((name) => `${name} ${isMissing(name) ? "is missing" : "cannot be used"}`).join(", "),
  );
};
