import { type Html, html } from "#lib/html.ts";
import { formatAge } from "./age.ts";

/** Renders the age of a moment, with the moment itself as a tooltip. */
export const renderTime = (then: Date, now: Date): Html =>
  html`<time datetime="${then.toISOString()}" title="${then.toISOString()}">${formatAge(then, now)}</time>`;
