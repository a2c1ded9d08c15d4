import { findSetting } from "#lib/config.ts";
import { type Html, html } from "#lib/html.ts";
import { abbreviateZone } from "#lib/time-zone.ts";
import type { MessageFilter, Notice } from "./login/operator-login.ts";
import { isAllowed, type Operator, type Role } from "./login/roles.ts";
import type { ConsoleState } from "./state.ts";
import { type Language, type Say, type TextKey, textKeys } from "./words.ts";

/** What a page of the console shows, and to whom. */
export interface View {
  readonly operator: Operator;
  /** Undefined if it cannot be read. */
  readonly state: ConsoleState | undefined;
  readonly filter: MessageFilter;
  readonly notice: Notice | undefined;
  readonly now: Date;
  readonly language: Language;
  readonly say: Say;
}

export const hiddenUnless = (condition: boolean | undefined): Html | undefined =>
  condition ? undefined : html` hidden`;

export const disabledUnless = (condition: boolean | undefined): Html | undefined =>
  condition ? undefined : html` disabled`;

/** The path of an action on the account that is shown: of several, the form says which one the operator has seen. */
export const pathOf = ({ state }: View, action: string): string => {
  const { account, accounts = [] } = state ?? {};
  const query = accounts.length > 1 && account ? `?${new URLSearchParams({ account })}` : "";
  return `/console/${action}${query}`;
};

export const may = ({ operator }: Pick<View, "operator">, role: Role): boolean => isAllowed(operator, role);

type TableId = TextKey extends infer K ? (K extends `${infer Id}.columns.${string}` ? Id : never) : never;

/**
 * Renders the table of a section with a title, hidden without rows. Its columns are the texts `<id>.columns.…`, in their order.
 * The roles are explicit as in panels/messages.ts.
 */
export const renderTable = (
  id: TableId,
  say: Say,
  rows: readonly Html[],
  style: "plain" | "messages" | "alerts" = "plain",
): Html => html`<table role="table" class="${style}" aria-labelledby="${id}-title"${hiddenUnless(rows.length > 0)}>
<thead role="rowgroup"><tr role="row">${textKeys.filter((key) => key.startsWith(`${id}.columns.`)).map((key) => html`<th role="columnheader" scope="col">${say(key)}</th>`)}</tr></thead>
<tbody role="rowgroup">${rows}</tbody>
</table>`;

const units = [
  [86_400, "day"],
  [3_600, "hour"],
  [60, "minute"],
  [1, "second"],
] as const;

/** Formats a duration in its largest whole unit: `3 min`. */
export const formatSeconds = (seconds: number, say: Say): string => {
  const whole = Math.max(0, Math.floor(seconds));
  const [size, name] = units.find(([size]) => whole >= size) ?? [1, "second"];
  return `${Math.floor(whole / size)} ${say(`units.${name}`)}`;
};

/** Renders the age of a moment, such as `3 min ago`, with the moment itself as a tooltip. */
export const renderAge = (then: Date, now: Date, say: Say): Html => {
  const age = say("ago", { age: formatSeconds((now.getTime() - then.getTime()) / 1_000, say) });
  return html`<time datetime="${then.toISOString()}" title="${then.toISOString()}">${age}</time>`;
};

/** By locale and style: a page shows a hundred times, and to make a format takes longer than to use it. */
const formats = new Map<string, Intl.DateTimeFormat>();
const styles = { date: { dateStyle: "medium" }, hour: { hour: "2-digit", minute: "2-digit" } } as const;

/** In the zone of the city's operators: the page does not know the reader's. */
const format = (at: Date, style: keyof typeof styles, locale: string): string => {
  const key = `${style} ${locale}`;
  const known =
    formats.get(key) ??
    new Intl.DateTimeFormat(locale, { timeZone: findSetting("TIME_ZONE"), ...styles[style] });
  formats.set(key, known);
  return known.format(at);
};

/** Such as `WIB`. */
export const zoneLabel = (): string => abbreviateZone(findSetting("TIME_ZONE"));

export const formatHour = (at: Date, say: Say): string => format(at, "hour", say("locale"));

/** Formats a moment with its zone, and with its date unless that is today. */
export const formatTime = (at: Date, now: Date, say: Say): string => {
  const isToday = format(at, "date", say("locale")) === format(now, "date", say("locale"));
  const date = isToday ? "" : `${format(at, "date", say("locale"))} `;
  return `${date}${formatHour(at, say)} (${zoneLabel()})`;
};
