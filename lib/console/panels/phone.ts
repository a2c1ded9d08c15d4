import { create } from "qrcode";
import { Html, html } from "#lib/html.ts";
import type { ConsoleState } from "../state.ts";
import { hiddenUnless, may, pathOf, type View } from "../view.ts";
import { adviceOf } from "./status.ts";

/** What links a phone is shown only to those who may link one. */
export const renderLinking = (view: View): Html => {
  const { state, say, language } = view;
  const isPairing = state?.leader && state.connection.kind === "pairing";
  const isAllowed = may(view, "operator");
  const { qr, code, passkey } = (isPairing && state.connection) || {};
  const { says, operator } = adviceOf({ passkey }, language);
  const picture =
    qr === undefined ? html`<p class="muted">${say("linking.noQr")}</p>` : drawQr(qr, say("linking.qr"));
  return html`<section id="linking" class="card" aria-labelledby="linking-title"${hiddenUnless(isPairing)}>
<h2 id="linking-title">${say("linking.heading")}</h2>
<p id="passkey" class="banner bad" role="alert"${hiddenUnless(passkey)}>${passkey && html`<strong>${says}</strong> ${operator}`}</p>
<p${hiddenUnless(!isAllowed)}>${say("linking.notAllowed")}</p>
<div class="columns"${hiddenUnless(isAllowed)}>
<div class="scan">
<h3>${say("linking.withQr")}</h3>
<div id="qr" class="frame">${isAllowed ? picture : undefined}</div>
<p class="muted">${say("linking.qrChanges")}</p>
</div>
<div class="grow">
<ol>
<li>${say("linking.openPhone")}</li>
<li>${say("linking.chooseLink")}</li>
<li>${say("linking.scan")}</li>
</ol>
<h3>${say("linking.withCode")}</h3>
<form method="post" action="${pathOf(view, "pairing-code")}" class="stack" data-live>
<label for="phone">${say("linking.phone")}</label>
<input id="phone" name="phone" type="tel" inputmode="tel" autocomplete="off" maxlength="30" required aria-describedby="phone-hint">
<p id="phone-hint" class="muted">${say("linking.phoneHint")}</p>
<button class="plain">${say("linking.getCode")}</button>
</form>
<p id="code" class="code"${hiddenUnless(code !== undefined && isAllowed)}><span class="muted">${say("linking.code")}</span> <output>${isAllowed ? code : undefined}</output></p>
</div>
</div>
</section>`;
};

/** Renders what the operator can do after WhatsApp has rejected the login. */
export const renderStopped = (view: View): Html => {
  const { state, say, language } = view;
  const isStopped = state?.leader && state.connection.kind === "stopped";
  const code = (isStopped && state.connection.answer) || 0;
  const { says, operator } = adviceOf({ answer: code }, language);
  return html`<section id="stopped" class="card" aria-labelledby="stopped-title"${hiddenUnless(isStopped)}>
<h2 id="stopped-title">${say("stopped.heading")}</h2>
<p>${isStopped ? html`${says} <strong>${operator}</strong> <span class="muted">${say("stopped.code", { code })}</span>` : undefined}</p>
${isStopped && may(view, "operator") ? html`<form method="post" action="${pathOf(view, "log-in")}" data-live><button class="plain">${say(code === 401 ? "stopped.pairAgain" : "stopped.connectAgain")}</button></form>` : undefined}
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
  const { say } = view;
  const isShown = canUnlink(view.state) && may(view, "admin");
  return html`<section id="unlinking" class="card" aria-labelledby="unlinking-title"${hiddenUnless(isShown)}>
<h2 id="unlinking-title">${say("unlinking.heading")}</h2>
<p>${say("unlinking.text")}</p>
<details>
<summary>${say("unlinking.summary")}</summary>
<form method="post" action="${pathOf(view, "unlink")}" class="stack" data-live>
<label for="confirmation">${say("unlinking.confirm", { word: say("unlinking.word") })}</label>
<input id="confirmation" name="confirmation" autocomplete="off" autocapitalize="none" spellcheck="false" required>
<button class="danger">${say("unlinking.button")}</button>
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
