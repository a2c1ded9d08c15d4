import { type Html, html } from "#lib/html.ts";
import { hiddenUnless, may, type View } from "./view.ts";

/** Renders the form that stops reminders to a number, or allows them again. */
export const renderOptOut = (view: View): Html => {
  const { optOut, linking } = view.words;
  return html`<section id="opting" class="card" aria-labelledby="opting-title"${hiddenUnless(may(view, "operator"))}>
<h2 id="opting-title">${optOut.heading}</h2>
<p>${optOut.text}</p>
<details>
<summary>${optOut.summary}</summary>
<form method="post" action="/console/opt-out" class="stack" data-live>
<label for="opt-phone">${optOut.phone}</label>
<input id="opt-phone" name="phone" type="tel" inputmode="tel" autocomplete="off" maxlength="30" required aria-describedby="opt-phone-hint">
<p id="opt-phone-hint" class="muted">${linking.phoneHint}</p>
<label class="tick"><input type="checkbox" name="confirmed" value="yes" required> ${optOut.confirm}</label>
<div class="buttons"><button class="danger">${optOut.out}</button>
<button class="plain" formaction="/console/opt-in">${optOut.in}</button></div>
</form>
</details>
</section>`;
};
