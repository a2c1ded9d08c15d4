import { type Html, html } from "#lib/html.ts";
import { maxPlanned } from "#lib/messaging/submission.ts";
import { lineOutcomes, maxBulkDays } from "#lib/notification/bulk.ts";
import type { ShownPreview } from "../bulk-state.ts";
import { hiddenUnless, may, renderTable } from "../view.ts";
import type { BulkView } from "./bulk.ts";

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
    ({ name, columns }) => html`<li><code>${name}</code>: <code>${columns.join(",")}</code>
<a href="/console/bulk/sample?template=${name}" download aria-label="${upload.sampleOf(name)}">${upload.sample}</a></li>`,
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

const maxRejected = 100;
/** Of all notifications. */
const sender = "notification";

const renderRejected = ({ rejected }: ShownPreview, { words }: BulkView): Html => {
  const { columns, more, outcomes, rejected: heading } = words.bulk.preview;
  const rows = rejected.slice(0, maxRejected).map(
    ({ line, phone, outcome, reason }) => html`<tr role="row">
<td role="cell" data-label="${columns.line}">${line}</td>
<td role="cell" data-label="${columns.phone}" class="phone">${phone}</td>
<td role="cell" data-label="${columns.outcome}">${outcomes[outcome]}</td>
<td role="cell" data-label="${columns.reason}" lang="en">${reason}</td>
</tr>`,
  );
  const left = rejected.length - rows.length;
  return html`<h3 id="rejected-title"${hiddenUnless(rows.length > 0)}>${heading}</h3>
${renderTable("rejected", columns, rows)}
${left > 0 ? html`<p class="muted">${more(left)}</p>` : undefined}`;
};

const renderShown = (preview: ShownPreview, view: BulkView): Html => {
  const { words, field } = view;
  const { preview: said, upload } = words.bulk;
  const { name, counts, countries, days, messages, ignored } = preview;
  const number = (count: number) => count.toLocaleString(words.locale);
  const regions = new Intl.DisplayNames(words.locale, { type: "region" });
  const byCountry = countries.map(
    ({ country, region, count }) =>
      `${region ? `${regions.of(region)} ` : ""}(+${country}): ${number(count)}`,
  );
  const rows = lineOutcomes.map(
    (outcome) => html`<tr role="row"><td role="cell">${said.outcomes[outcome]}</td>
<td role="cell" data-label="${said.count}">${number(counts[outcome])}</td></tr>`,
  );
  return html`<dl class="facts">
<div><dt>${said.run}</dt><dd><code>${name}</code></dd></div>
<div><dt>${upload.template}</dt><dd><code>${field("template")}</code></dd></div>
<div><dt>${upload.class}</dt><dd><code>${field("class")}</code></dd></div>
<div><dt>${said.sender}</dt><dd><code>${sender}</code></dd></div>
<div><dt>${said.countries}</dt><dd>${byCountry.join(", ") || "–"}</dd></div>
<div><dt>${said.duration}</dt><dd>${days > maxBulkDays ? said.tooLong(days, maxBulkDays) : said.days(days)}</dd></div>
</dl>
${ignored.length > 0 ? html`<p class="muted">${said.ignored(ignored.join(", "))}</p>` : undefined}
<h3 id="counts-title">${said.count}</h3>
${renderTable("counts", [said.outcome, said.count], rows)}
<h3>${said.messages}</h3>
${messages.length === 0 ? html`<p class="muted">${said.nobody}</p>` : undefined}
${messages.map(
  ({
    line,
    phone,
    text,
  }) => html`<figure class="message"><figcaption class="muted">${said.line(line, phone)}</figcaption>
<blockquote lang="id">${text}</blockquote></figure>`,
)}
${renderRejected(preview, view)}`;
};

/** Renders the preview that answers a form. The script keeps it while it polls: the page that it gets has none. */
export const renderPreview = (view: BulkView): Html => {
  const { preview, words } = view;
  return html`<section id="preview" class="card" aria-labelledby="preview-title" data-kept${hiddenUnless(preview !== undefined)}>
<h2 id="preview-title">${words.bulk.preview.heading}</h2>
${preview && renderShown(preview, view)}
</section>`;
};
