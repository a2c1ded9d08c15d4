import { type Html, html } from "#lib/html.ts";
import { maxAnswerLength } from "#lib/messenger/outbox/answer.ts";
import { hiddenUnless, may, type View } from "../view.ts";

/** Renders the answer to persons who write to the city's number, and the form that changes it. */
export const renderAnswer = (view: View): Html => {
  const { say, state } = view;
  const current = state?.answer ? say("answer.current", { text: state.answer }) : say("answer.none");
  return html`<section id="answering" class="card" aria-labelledby="answering-title"${hiddenUnless(may(view, "operator"))}>
<h2 id="answering-title">${say("answer.heading")}</h2>
<p>${say("answer.text")}</p>
<p>${state ? current : undefined}</p>
<details>
<summary>${say("answer.summary")}</summary>
<form method="post" action="/console/answer" class="stack" data-live>
<label for="answer-text">${say("answer.label")}</label>
<textarea id="answer-text" name="answer" rows="4" maxlength="${maxAnswerLength}" required></textarea>
<div class="buttons"><button class="primary">${say("answer.save")}</button>
<button class="plain" formaction="/console/no-answer" formnovalidate>${say("answer.remove")}</button></div>
</form>
</details>
</section>`;
};

/** Renders the form that stops reminders to a number, or allows them again. */
export const renderOptOut = (view: View): Html => {
  const { say } = view;
  return html`<section id="opting" class="card" aria-labelledby="opting-title"${hiddenUnless(may(view, "operator"))}>
<h2 id="opting-title">${say("optOut.heading")}</h2>
<p>${say("optOut.text")}</p>
<details>
<summary>${say("optOut.summary")}</summary>
<form method="post" action="/console/opt-out" class="stack" data-live>
<label for="opt-phone">${say("optOut.phone")}</label>
<input id="opt-phone" name="phone" type="tel" inputmode="tel" autocomplete="off" maxlength="30" required aria-describedby="opt-phone-hint">
<p id="opt-phone-hint" class="muted">${say("linking.phoneHint")}</p>
<label class="tick"><input type="checkbox" name="confirmed" value="yes" required> ${say("optOut.confirm")}</label>
<div class="buttons"><button class="danger">${say("optOut.out")}</button>
<button class="plain" formaction="/console/opt-in">${say("optOut.in")}</button></div>
</form>
</details>
</section>`;
};
