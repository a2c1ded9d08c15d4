import { type Html, html } from "#lib/html.ts";
import type { Words } from "../words/en.ts";

const units = [
  [86_400, "day"],
  [3_600, "hour"],
  [60, "minute"],
  [1, "second"],
] as const satisfies readonly [number, keyof Words["units"]][];

/** Formats a duration in its largest whole unit: `3 min`. */
export const formatSeconds = (seconds: number, words: Words): string => {
  const whole = Math.max(0, Math.floor(seconds));
  const [size, name] = units.find(([size]) => whole >= size) ?? [1, "second"];
  return `${Math.floor(whole / size)} ${words.units[name]}`;
};

/** Renders the age of a moment, such as `3 min ago`, with the moment itself as a tooltip. */
export const renderAge = (then: Date, now: Date, words: Words): Html => {
  const age = words.ago(formatSeconds((now.getTime() - then.getTime()) / 1_000, words));
  return html`<time datetime="${then.toISOString()}" title="${then.toISOString()}">${age}</time>`;
};

/** The zone of the city's operators: the page does not know the reader's. */
const timeZone = "Asia/Jakarta";
const dayOf = (at: Date) => at.toLocaleDateString("en-CA", { timeZone });

export const formatHour = (at: Date, words: Words): string =>
  at.toLocaleTimeString(words.locale, { timeZone, hour: "2-digit", minute: "2-digit" });

/** Formats a moment with its zone, and with its date unless that is today. */
export const formatTime = (at: Date, now: Date, words: Words): string => {
  const date =
    dayOf(at) === dayOf(now)
      ? ""
      : `${at.toLocaleDateString(words.locale, { timeZone, dateStyle: "medium" })} `;
  return `${date}${formatHour(at, words)} (${words.timeZone})`;
};
