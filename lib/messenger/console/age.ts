import { type Html, html } from "#lib/html.ts";

const units: readonly [seconds: number, name: string][] = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
  [1, "s"],
];

/** Formats a duration in its largest whole unit: `3 min`. The server does not know the operator's time zone. */
export const formatSeconds = (seconds: number): string => {
  const whole = Math.max(0, Math.floor(seconds));
  const [size, name] = units.find(([size]) => whole >= size) ?? [1, "s"];
  return `${Math.floor(whole / size)} ${name}`;
};

/** Renders the age of a moment, such as `3 min ago`, with the moment itself as a tooltip. */
export const renderAge = (then: Date, now: Date): Html => {
  const age = formatSeconds((now.getTime() - then.getTime()) / 1_000);
  return html`<time datetime="${then.toISOString()}" title="${then.toISOString()}">${age} ago</time>`;
};
