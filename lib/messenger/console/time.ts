import { type Html, html } from "#lib/html.ts";
import { describeAge } from "./age.ts";

/** How long ago something was, with the moment itself for whoever asks. */
export const renderTime = (then: Date, now: Date): Html =>
  html`<time datetime="${then.toISOString()}" title="${then.toISOString()}">${describeAge(then, now)}</time>`;
