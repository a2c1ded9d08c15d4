import { create } from "qrcode";
import { Html, html } from "#lib/html.ts";
import type { ConsoleState } from "../state.ts";
import { hiddenUnless, may, pathOf, type View } from "../view.ts";
import { adviceOf } from "../words/language.ts";

/** What links a phone is shown only to those who may link one. */
export const renderLinking = (view: View): Html => {
  const { state, words } = view;
  const { linking } = words;
  const isPairing = state?.leader && state.connection.kind === "pairing";
  const isAllowed = may(view, "operator");
  const { qr, code, passkey } = (isPairing && state.connection) || {};
  const picture = qr === undefined ? html`<p class="muted">${linking.noQr}</p>` : drawQr(qr, linking.qr);
  return html`<section id="linking" class="card" aria-labelledby="linking-title"${hiddenUnless(isPairing)}>
<h2 id="linking-title">${linking.heading}</h2>
<p id="passkey" class="banner bad" role="alert"${hiddenUnless(passkey)}>${passkey && html`<strong>${words.passkey.says}</strong> ${words.passkey.operator}`}</p>
<p${hiddenUnless(!isAllowed)}>${linking.notAllowed}</p>
<div class="columns"${hiddenUnless(isAllowed)}>
<div class="scan">
<h3>${linking.withQr}</h3>
<div id="qr" class="frame">${isAllowed ? picture : undefined}</div>
<p class="muted">${linking.qrChanges}</p>
</div>
<div class="grow">
<ol>
<li>${linking.openPhone}</li>
<li>${linking.chooseLink}</li>
<li>${linking.scan}</li>
</ol>
<h3>${linking.withCode}</h3>
<form method="post" action="${pathOf(view, "pairing-code")}" class="stack" data-live>
<label for="phone">${linking.phone}</label>
<input id="phone" name="phone" type="tel" inputmode="tel" autocomplete="off" maxlength="30" required aria-describedby="phone-hint">
<p id="phone-hint" class="muted">${linking.phoneHint}</p>
<button class="plain">${linking.getCode}</button>
</form>
<p id="code" class="code"${hiddenUnless(code !== undefined && isAllowed)}><span class="muted">${linking.code}</span> <output>${isAllowed ? code : undefined}</output></p>
</div>
</div>
</section>`;
};

/** Renders what the operator can do after WhatsApp has rejected the login. */
export const renderStopped = (view: View): Html => {
  const { state, words } = view;
  const { stopped } = words;
  const isStopped = state?.leader && state.connection.kind === "stopped";
  const code = (isStopped && state.connection.answer) || 0;
  const { says, operator } = adviceOf(words, { answer: code });
  return html`<section id="stopped" class="card" aria-labelledby="stopped-title"${hiddenUnless(isStopped)}>
<h2 id="stopped-title">${stopped.heading}</h2>
<p>${isStopped ? html`${says} <strong>${operator}</strong> <span class="muted">${stopped.code(code)}</span>` : undefined}</p>
${isStopped && may(view, "operator") ? html`<form method="post" action="${pathOf(view, "log-in")}" data-live><button class="plain">${code === 401 ? stopped.pairAgain : stopped.connectAgain}</button></form>` : undefined}
</section>`;
};

/** Nothing is linked, or there is no phone to link. */
const unlinkable: readonly string[] = ["pairing", "usable", "unreachable", "rejected"];

const canUnlink = (state: ConsoleState | undefined): boolean | undefined =>
  state?.leader && !unlinkable.includes(state.connection.kind) && !isRemoved(state);

/** The keys of a link that WhatsApp has removed are deleted already. */
const isRemoved = ({ connection: { kind, answer } }: ConsoleState) => kind === "stopped" && answer === 401;

/** Renders unlinking, with a word to type: linking again requires access to the phone. */
export const renderUnlinking = (view: View): Html => {
  const { heading, text, summary, word, confirm, button } = view.words.unlinking;
  const isShown = canUnlink(view.state) && may(view, "admin");
  return html`<section id="unlinking" class="card" aria-labelledby="unlinking-title"${hiddenUnless(isShown)}>
<h2 id="unlinking-title">${heading}</h2>
<p>${text}</p>
<details>
<summary>${summary}</summary>
<form method="post" action="${pathOf(view, "unlink")}" class="stack" data-live>
<label for="confirmation">${confirm(word)}</label>
<input id="confirmation" name="confirmation" autocomplete="off" autocapitalize="none" spellcheck="false" required>
<button class="danger">${button}</button>
</form>
</details>
</section>`;
};

/** The white margin that scanners need, in modules. */
const quietZone = 4;

/**
 * Draws a QR code as inline SVG, which is updated together with the page. The SVG of the `qrcode` package has no
 * label for screen readers.
 */
const drawQr = (text: string, label: string): Html => {
  const { size, data } = create(text, { errorCorrectionLevel: "L" }).modules;
  const runs: string[] = [];
  for (let y = 0; y < size; y += 1)
    for (let x = 0; x < size; x += 1)
      if (data[y * size + x] === 1) runs.push(`M${x + quietZone} ${y + quietZone}h1v1h-1z`);
  const side = size + 2 * quietZone;
  return new Html(
    `<svg class="qr" role="img" aria-label="${html`${label}`.text}" viewBox="0 0 ${side} ${side}"` +
      ` shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${side}v${side}H0z"/>` +
      `<path fill="#000" d="${runs.join("")}"/></svg>`,
  );
};
