import { type Html, html } from "#lib/html.ts";
import { maxPlanned } from "#lib/messaging/submission.ts";
import type { BulkView } from "./bulk-page.ts";
import { hiddenUnless, may } from "./view.ts";

const option = (value: string, chosen: string, label: string = value): Html =>
  html`<option value="${value}"${value === chosen ? html` selected` : undefined}>${label}</option>`;

/** Renders the options of a class. */
export const renderClasses = ({ words }: BulkView, chosen: string): Html[] =>
  Object.entries(words.bulk.upload.classes).map(([name, label]) => option(name, chosen, label));

/** A preview that was shown is what the button starts. An id of its own: the script does not replace values of a field. */
const renderStart = ({ preview, words: { bulk } }: BulkView): Html | undefined => {
  if (!preview) return undefined;
  const { fingerprint, counts } = preview;
  return html`<input type="hidden" id="previewed-${fingerprint}" name="previewed" value="${fingerprint}">
<button id="start-${fingerprint}" class="primary" formaction="/console/bulk/bulk-start">${bulk.upload.start(counts["would be sent"])}</button>`;
};

/** Renders the form for a file of recipients. It first shows a preview, and then sends what was shown. */
export const renderUpload = (view: BulkView): Html => {
  const { words, state, field, maxFileBytes, preview } = view;
  const { upload } = words.bulk;
  const choices = state?.choices ?? [];
  const megabytes = maxFileBytes / 1024 / 1024;
  const mayStart = preview !== undefined && preview.counts["would be sent"] > 0;
  const columns = choices.map(
    ({ name, columns }) => html`<li><code>${name}</code>: <code>${columns.join(",")}</code></li>`,
  );
  return html`<section id="upload" class="card" aria-labelledby="upload-title">
<h2 id="upload-title">${upload.heading}</h2>
<p>${upload.text(maxPlanned.toLocaleString(words.locale), megabytes)}</p>
<p class="muted"${hiddenUnless(!may(view, "operator"))}>${upload.notAllowed}</p>
<form method="post" action="/console/bulk/bulk-preview" enctype="multipart/form-data" class="stack" data-live${hiddenUnless(may(view, "operator"))}>
<label for="bulk-template">${upload.template}</label>
<select id="bulk-template" name="template" required>${choices.map(({ name }) => option(name, field("template")))}</select>
<details><summary>${upload.columns}</summary><ul class="commands">${columns}</ul></details>
<label for="bulk-class">${upload.class}</label>
<select id="bulk-class" name="class">${renderClasses(view, field("class"))}</select>
<label for="bulk-run">${upload.name}</label>
<input id="bulk-run" name="run" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="80" pattern="[a-z0-9\\-]*" value="${field("run")}" aria-describedby="bulk-run-hint">
<p id="bulk-run-hint" class="muted">${upload.nameHint}</p>
<label for="bulk-file">${upload.file}</label>
<input id="bulk-file" name="file" type="file" accept=".csv,text/csv" required data-max-bytes="${maxFileBytes}" data-too-large="${words.failures.fileTooLarge(megabytes)}">
<noscript><p class="muted"${hiddenUnless(preview !== undefined)}>${upload.again}</p></noscript>
<div id="upload-buttons" class="buttons" data-kept><button class="${preview ? "plain" : "primary"}" data-stay>${upload.preview}</button>
${mayStart ? renderStart(view) : undefined}</div>
</form>
</section>`;
};
