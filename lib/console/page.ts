import { type Html, html } from "#lib/html.ts";
import { renderAccounts } from "./panels/accounts.ts";
import { renderActs } from "./panels/acts.ts";
import { renderAlerts } from "./panels/alerts.ts";
import { renderCallbacks } from "./panels/callbacks.ts";
import { renderChart } from "./panels/chart.ts";
import { renderMessages, renderQueue } from "./panels/messages.ts";
import { renderLinking, renderStopped, renderUnlinking } from "./panels/phone.ts";
import { renderAnswer, renderOptOut } from "./panels/replies.ts";
import { renderRuns } from "./panels/runs.ts";
import { renderSenders } from "./panels/senders.ts";
import { renderStatus } from "./panels/status.ts";
import type { View } from "./view.ts";
import { type Language, languages, type Say } from "./words.ts";

const document = (language: Language, title: string, body: Html, head?: Html): string =>
  html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="/console/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/console/console.css">${head}
</head>
${body}
</html>
`.text;

const mark = html`<svg class="mark" viewBox="0 0 24 24" aria-hidden="true"><path d="M4 4h16v12H9l-5 4z"/></svg>`;

const renderBrand = (say: Say): Html => html`<p class="brand">${mark}<span>${say("title")}</span></p>`;

const renderLanguages = (current: Language): Html => {
  const links = Object.entries(languages).map(([name, say]) =>
    name === current
      ? html`<span lang="${name}" aria-current="true">${say("language")}</span>`
      : html`<a lang="${name}" hreflang="${name}" href="/console/language/${name}">${say("language")}</a>`,
  );
  return html`<nav class="languages" aria-label="${languages[current]("page.languages")}">${links}</nav>`;
};

/** Where an operator finds things; `now` is the first page. Each shows what is wrong. */
const pages = {
  now: [renderStatus, renderStopped, renderLinking, renderQueue, renderChart],
  messages: [renderMessages, renderOptOut, renderAnswer],
  runs: [renderRuns],
  senders: [renderSenders, renderCallbacks],
  accounts: [renderAccounts, renderUnlinking],
  record: [renderActs],
} satisfies Record<string, readonly ((view: View) => Html)[]>;
export type PageName = keyof typeof pages;
export const pageNames = Object.keys(pages) as PageName[];

export const pathOfPage = (name: PageName): string => (name === "now" ? "/console" : `/console/${name}`);

/** @param current the page that is shown, or that the page shown belongs to. */
const renderPages = (current: PageName, say: Say): Html => {
  const links = pageNames.map(
    (name) =>
      html`<a href="${pathOfPage(name)}"${name === current ? html` aria-current="page"` : undefined}>${say(`page.names.${name}`)}</a>`,
  );
  return html`<nav class="pages" aria-label="${say("page.pages")}">${links}</nav>`;
};

/** What the frame of each page of an operator shows. */
type Framed = Pick<View, "operator" | "notice" | "say" | "language">;

/**
 * Renders a page of an operator who has logged in. It works without the script, by reloading.
 *
 * @param home the page's path, which the script polls.
 */
export const renderFrame = (
  { operator, notice, say, language }: Framed,
  home: string,
  current: PageName,
  title: string,
  content: Html,
): string => {
  const header = html`<header class="bar">
${renderBrand(say)}
${renderLanguages(language)}
<form method="post" action="/console/logout"><span class="muted">${operator.name} · ${say(`page.roles.${operator.role}`)}</span>
<button class="quiet">${say("page.logOut")}</button></form>
</header>
${renderPages(current, say)}`;
  return document(
    language,
    title,
    html`<body data-home="${home}">
${header}
<p id="offline" class="banner bad" role="alert" data-silent="${say("page.silent")}" data-unanswered="${say("page.unanswered")}" data-retrying="${say("page.retrying")}" hidden></p>
<noscript><p class="banner">${say("page.reload")}</p></noscript>
<main>
<h1 class="unseen">${title}</h1>
<p id="notice" class="banner ${notice?.kind === "failed" ? "bad" : "good"}" role="status" tabindex="-1" data-kind="${notice?.kind}">${notice?.text}</p>
${content}
</main>
<script type="module" src="/console/console.js"></script>
</body>`,
  );
};

/*
 * Empty sections are hidden, not left out: the script updates the page in place, and a section that appears or
 * disappears must not move the keyboard focus.
 */
/** Renders one of the console's pages. */
export const renderPage = (view: View, name: PageName): string =>
  renderFrame(
    view,
    pathOfPage(name),
    name,
    `${view.say(`page.names.${name}`)} · ${view.say("title")}`,
    html`${renderAlerts(view, name === "now")}
${pages[name].map((render) => html`${render(view)}\n`)}`,
  );

const renderAlone = (language: Language, heading: string, content: Html, head?: Html): string => {
  const say = languages[language];
  return document(
    language,
    `${heading} · ${say("title")}`,
    html`<body class="alone">
<main>
${renderBrand(say)}
<h1>${heading}</h1>
${content}
${renderLanguages(language)}
</main>
</body>`,
    head,
  );
};

/**
 * @param method `issuer`: operators log in at another service.
 * @param failure why the last attempt failed.
 */
export const renderLogin = (language: Language, method: "local" | "issuer", failure?: string): string => {
  const say = languages[language];
  const form = html`<form method="post" action="/console/login" class="stack">
<label for="username">${say("login.username")}</label>
<input id="username" name="username" autocomplete="username" autocapitalize="none" spellcheck="false" required autofocus>
<label for="password">${say("login.password")}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button class="primary">${say("login.button")}</button>
</form>`;
  const link = html`<p><a class="button primary" href="/console/sign-in">${say("login.elsewhere")}</a></p>`;
  const said = failure === undefined ? undefined : html`<p class="banner bad" role="alert">${failure}</p>`;
  return renderAlone(language, say("login.heading"), html`${said}${method === "local" ? form : link}`);
};

/**
 * Renders a page that goes on to the console. A redirect would still belong to the navigation that another site began, and
 * the browser would not send the login's cookie, which is `SameSite=Strict`.
 */
export const renderContinue = (language: Language): string => {
  const say = languages[language];
  const link = html`<p><a href="/console">${say("login.continue")}</a></p>`;
  return renderAlone(
    language,
    say("login.heading"),
    link,
    html`\n<meta http-equiv="refresh" content="0;url=/console">`,
  );
};

export const renderError = (
  language: Language,
  title: "rejected" | "notFound" | "error",
  text: "noPage" | "invalidForm" | "unexpected" | "address" | "origin",
): string => {
  const say = languages[language];
  const content = html`<p>${say(`errors.${text}`)}</p>
<p><a href="/console">${say("errors.open")}</a></p>`;
  return renderAlone(language, say(`errors.${title}`), content);
};
