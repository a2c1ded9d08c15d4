import { type Html, html } from "#lib/html.ts";
import { findDisconnection, passkeyDemanded } from "../channels/platform-codes.ts";
import { drawQr } from "./qr.ts";
import type { ConsoleState } from "./state.ts";

/** What the operator types to confirm unlinking. */
export const confirmation = "unlink";

const hiddenUnless = (condition: boolean | undefined) => (condition ? undefined : html` hidden`);

export const renderLinking = (state: ConsoleState | undefined): Html => {
  const isPairing = state?.leader && state.connection.kind === "pairing";
  const { qr, code, passkey } = (isPairing && state.connection) || {};
  return html`<section id="linking" class="card" aria-labelledby="linking-title"${hiddenUnless(isPairing)}>
<h2 id="linking-title">Link a phone</h2>
<p id="passkey" class="banner bad" role="alert">${passkey && html`<strong>${passkeyDemanded.says}</strong> ${passkeyDemanded.operator}`}</p>
<div class="columns">
<div class="scan">
<h3>With the QR code</h3>
<div id="qr" class="frame">${qr === undefined ? html`<p class="muted">Waiting for a QR code from WhatsApp…</p>` : drawQr(qr)}</div>
<p class="muted">WhatsApp replaces the code every few seconds.</p>
</div>
<div class="grow">
<ol>
<li>On the phone, open WhatsApp, then <em>Settings</em> and <em>Linked devices</em>.</li>
<li>Choose <em>Link a device</em>.</li>
<li>Scan the QR code, or choose <em>Link with phone number instead</em> and enter a pairing code.</li>
</ol>
<h3>With a pairing code</h3>
<form method="post" action="/console/pairing-code" class="stack" data-live>
<label for="phone">Phone number</label>
<input id="phone" name="phone" type="tel" inputmode="tel" autocomplete="off" maxlength="30" required aria-describedby="phone-hint">
<p id="phone-hint" class="muted">With country code, for example 62 812 3456 7890.</p>
<button class="plain">Get pairing code</button>
</form>
<h3>With the old link</h3>
<form method="post" action="/console/old-link" class="stack" data-live>
<p class="muted">If WhatsApp has removed the link by mistake: tries it once more, for 30 days after its removal.</p>
<button class="plain">Try the old link again</button>
</form>
<p id="code" class="code"${hiddenUnless(code !== undefined)}><span class="muted">Pairing code</span> <output>${code}</output></p>
</div>
</div>
</section>`;
};

const stopButtons: Readonly<Record<number, readonly (readonly [action: string, label: string])[]>> = {
  401: [
    ["old-link", "Try the old link again"],
    ["log-in", "Pair again"],
  ],
};
const connectAgain = [["log-in", "Connect again"]] as const;

/** Renders what the operator can do after WhatsApp has rejected the login. */
export const renderStopped = (state: ConsoleState | undefined): Html => {
  const isStopped = state?.leader && state.connection.kind === "stopped";
  const code = (isStopped && state.connection.answer) || 0;
  const { says, operator } = findDisconnection(code);
  const buttons = isStopped ? (stopButtons[code] ?? connectAgain) : [];
  return html`<section id="stopped" class="card" aria-labelledby="stopped-title"${hiddenUnless(isStopped)}>
<h2 id="stopped-title">Logins are stopped</h2>
<p>${isStopped ? html`${says} <strong>${operator}</strong> <span class="muted">Code ${code}.</span>` : undefined}</p>
<form method="post" action="/console/version" class="stack" data-live${hiddenUnless(isStopped && code === 405)}>
<label for="version">Version of WhatsApp Web</label>
<input id="version" name="version" autocomplete="off" spellcheck="false" maxlength="20" required aria-describedby="version-hint">
<p id="version-hint" class="muted">Three numbers with dots, for example 2.3000.1043857760.</p>
<button class="primary">Set version and connect</button>
</form>
${buttons.map(([action, label]) => html`<form method="post" action="/console/${action}" data-live><button class="plain">${label}</button></form>`)}
</section>`;
};

const canUnlink = (state: ConsoleState | undefined): boolean | undefined =>
  state?.leader && state.connection.kind !== "pairing" && !isRemoved(state);

/** The keys of a link that WhatsApp has removed are archived already. */
const isRemoved = ({ connection: { kind, answer } }: ConsoleState) => kind === "stopped" && answer === 401;

/** Renders unlinking, with a word to type: linking again requires access to the phone. */
export const renderUnlinking = (
  state: ConsoleState | undefined,
): Html => html`<section id="unlinking" class="card" aria-labelledby="unlinking-title"${hiddenUnless(canUnlink(state))}>
<h2 id="unlinking-title">Unlink the phone</h2>
<p>Removes the link and deletes its keys. No messages are sent until a phone is linked again. Waiting messages stay queued.</p>
<details>
<summary>Unlink…</summary>
<form method="post" action="/console/unlink" class="stack" data-live>
<label for="confirmation">Type <strong>${confirmation}</strong> to confirm</label>
<input id="confirmation" name="confirmation" autocomplete="off" autocapitalize="none" spellcheck="false" required>
<button class="danger">Unlink phone</button>
</form>
</details>
</section>`;
