import { type Html, html } from "#lib/html.ts";
import type { Notice } from "./operator-login.ts";
import { renderMessages, renderQueue } from "./outbox-section.ts";
import { renderLinking, renderStopped, renderUnlinking } from "./phone-section.ts";
import { renderRuns } from "./runs-section.ts";
import type { ConsoleState } from "./state.ts";
import { renderBanner, renderStatus } from "./status-section.ts";

const document = (title: string, body: Html): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="/console/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/console/console.css">
</head>
${body}
</html>
`.text;

const mark = html`<svg class="mark" viewBox="0 0 24 24" aria-hidden="true"><path d="M4 4h16v12H9l-5 4z"/></svg>`;

export interface View {
  readonly username: string;
  /** Undefined if it cannot be read. */
  readonly state: ConsoleState | undefined;
  readonly notice: Notice | undefined;
  readonly now: Date;
}

/*
 * Empty sections are hidden, not left out: the script updates the page in place, and a section that appears or
 * disappears must not move the keyboard focus.
 */
/** Renders the console's page. It works without the script, by reloading. */
export const renderPage = ({ username, state, notice, now }: View): string => {
  const header = html`<header class="bar">
<p class="brand">${mark}<span>Messenger</span></p>
<form method="post" action="/console/logout"><span class="muted">${username}</span>
<button class="quiet">Log out</button></form>
</header>`;
  return document(
    "Messenger",
    html`<body>
${header}
<p id="offline" class="banner bad" role="alert" hidden></p>
<noscript><p class="banner">Reload the page to update it.</p></noscript>
<main>
<h1 class="unseen">Messenger</h1>
<p id="notice" class="banner ${notice?.kind === "failed" ? "bad" : "good"}" role="status" tabindex="-1" data-kind="${notice?.kind}">${notice?.text}</p>
${renderBanner(state)}
${renderStatus(state, now)}
${renderStopped(state)}
${renderLinking(state)}
${renderQueue(state)}
${renderRuns(state, now)}
${renderMessages(state, now)}
${renderUnlinking(state)}
</main>
<script type="module" src="/console/console.js"></script>
</body>`,
  );
};

/** @param failure why the last attempt failed. */
export const renderLogin = (failure: string | undefined): string =>
  document(
    "Log in · Messenger",
    html`<body class="alone">
<main>
<p class="brand">${mark}<span>Messenger</span></p>
<h1>Log in</h1>
${failure === undefined ? undefined : html`<p class="banner bad" role="alert">${failure}</p>`}
<form method="post" action="/console/login" class="stack">
<label for="username">Username</label>
<input id="username" name="username" autocomplete="username" autocapitalize="none" spellcheck="false" required autofocus>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button class="primary">Log in</button>
</form>
</main>
</body>`,
  );

export const renderError = (title: string, text: string): string =>
  document(
    `${title} · Messenger`,
    html`<body class="alone">
<main>
<p class="brand">${mark}<span>Messenger</span></p>
<h1>${title}</h1>
<p>${text}</p>
<p><a href="/console">Open the console</a></p>
</main>
</body>`,
  );
