import { type Html, html } from "#lib/html.ts";
import { formatAge } from "./age.ts";

export const renderTime = (then: Date, now: Date): Html =>
  html`<time datetime="${then.toISOString()}" title="${then.toISOString()}">${formatAge(then, now)}</time>`;
