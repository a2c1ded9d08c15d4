import { type Html, html } from "#lib/html.ts";
import { maxPlanned } from "#lib/messaging/submission.ts";
import { lineOutcomes, maxBulkDays } from "#lib/notification/bulk.ts";
import { bulkClasses } from "#lib/notification/bulk-template.ts";
import type { ShownPreview } from "../bulk-state.ts";
import { hiddenUnless, may, renderTable } from "../view.ts";
import type { Say } from "../words.ts";
import type { BulkView } from "./bulk.ts";

const option = (value: string, chosen: string, label: string = value): Html =>
  html`<option value="${value}"${value === chosen ? html` selected` : undefined}>${label}</option>`;

/** Renders the options of a class. */
export const renderClasses = ({ say }: BulkView, chosen: string): Html[] =>
  bulkClasses.map((name) => option(name, chosen, say(`upload.classes.${name}`)));

/** A preview that was shown is what the button starts. An id of its own: the script does not replace values of a field. */
const renderStart = ({ preview, say }: BulkView): Html | undefined => {
  if (!preview) return undefined;
  const { fingerprint, counts } = preview;
  return html`<input type="hidden" id="previewed-${fingerprint}" name="previewed" value="${fingerprint}">
<button id="start-${fingerprint}" class="primary" formaction="/console/bulk/bulk-start">${say("upload.start", { count: counts["would be sent"] })}</button>`;
};

/** Renders the form for a file of recipients. It first shows a preview, and then sends what was shown. */
export const renderUpload = (view: BulkView): Html => {
  const { say, state, field, maxFileBytes, preview } = view;
  const choices = state?.choices ?? [];
  const megabytes = maxFileBytes / 1024 / 1024;
  const mayStart = preview !== undefined && preview.counts["would be sent"] > 0;
  const columns = choices.map(
    ({ name, columns }) => html`<li><code>${name}</code>: <code>${columns.join(",")}</code>
<a href="/console/bulk/sample?template=${name}" download aria-label="${say("upload.sampleOf", { template: name })}">${say("upload.sample")}</a></li>`,
  );
  return html`<section id="upload" class="card" aria-labelledby="upload-title">
<h2 id="upload-title">${say("upload.heading")}</h2>
<p>${say("upload.text", { lines: maxPlanned.toLocaleString(say("locale")), megabytes })}</p>
<p class="muted"${hiddenUnless(!may(view, "operator"))}>${say("upload.notAllowed")}</p>
<form method="post" action="/console/bulk/bulk-preview" enctype="multipart/form-data" class="stack" data-live${hiddenUnless(may(view, "operator"))}>
<label for="bulk-template">${say("upload.template")}</label>
<select id="bulk-template" name="template" required>${choices.map(({ name }) => option(name, field("template")))}</select>
<details><summary>${say("upload.columns")}</summary><ul class="commands">${columns}</ul></details>
<label for="bulk-class">${say("upload.class")}</label>
<select id="bulk-class" name="class">${renderClasses(view, field("class"))}</select>
<label for="bulk-run">${say("upload.name")}</label>
<input id="bulk-run" name="run" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="80" pattern="[a-z0-9\\-]*" value="${field("run")}" aria-describedby="bulk-run-hint">
<p id="bulk-run-hint" class="muted">${say("upload.nameHint")}</p>
<label for="bulk-file">${say("upload.file")}</label>
<input id="bulk-file" name="file" type="file" accept=".csv,text/csv" required data-max-bytes="${maxFileBytes}" data-too-large="${say("failures.fileTooLarge", { megabytes })}">
<noscript><p class="muted"${hiddenUnless(preview !== undefined)}>${say("upload.again")}</p></noscript>
<div id="upload-buttons" class="buttons" data-kept><button class="${preview ? "plain" : "primary"}" data-stay>${say("upload.preview")}</button>
${mayStart ? renderStart(view) : undefined}</div>
</form>
</section>`;
};

const maxRejected = 100;
/** Of all notifications. */
const sender = "notification";

const renderRejected = ({ rejected }: ShownPreview, { say }: BulkView): Html => {
  const rows = rejected.slice(0, maxRejected).map(
    ({ line, phone, outcome, reason }) => html`<tr role="row">
<td role="cell" data-label="${say("rejected.columns.line")}">${line}</td>
<td role="cell" data-label="${say("rejected.columns.phone")}" class="phone">${phone}</td>
<td role="cell" data-label="${say("rejected.columns.outcome")}">${say(`preview.outcomes.${outcome}`)}</td>
<td role="cell" data-label="${say("rejected.columns.reason")}" lang="en">${reason}</td>
</tr>`,
  );
  const left = rejected.length - rows.length;
  return html`<h3 id="rejected-title"${hiddenUnless(rows.length > 0)}>${say("preview.rejected")}</h3>
${renderTable("rejected", say, rows)}
${left > 0 ? html`<p class="muted">${say("preview.more", { count: left })}</p>` : undefined}`;
};

const sayDays = (days: number, say: Say): string => {
  if (days <= maxBulkDays) return say("preview.days", { count: days });
  return days > 366
    ? say("preview.moreThanAYear", { most: maxBulkDays })
    : say("preview.tooLong", { days, most: maxBulkDays });
};

const renderShown = (preview: ShownPreview, view: BulkView): Html => {
  const { say, field } = view;
  const { name, counts, countries, days, messages, ignored } = preview;
  const number = (count: number) => count.toLocaleString(say("locale"));
  const regions = new Intl.DisplayNames(say("locale"), { type: "region" });
  const byCountry = countries.map(
    ({ country, region, count }) =>
      `${region ? `${regions.of(region)} ` : ""}(+${country}): ${number(count)}`,
  );
  const rows = lineOutcomes.map(
    (outcome) => html`<tr role="row"><td role="cell">${say(`preview.outcomes.${outcome}`)}</td>
<td role="cell" data-label="${say("counts.columns.count")}">${number(counts[outcome])}</td></tr>`,
  );
  return html`<dl class="facts">
<div><dt>${say("preview.run")}</dt><dd><code>${name}</code></dd></div>
<div><dt>${say("upload.template")}</dt><dd><code>${field("template")}</code></dd></div>
<div><dt>${say("upload.class")}</dt><dd><code>${field("class")}</code></dd></div>
<div><dt>${say("preview.sender")}</dt><dd><code>${sender}</code></dd></div>
<div><dt>${say("preview.countries")}</dt><dd>${byCountry.join(", ") || "–"}</dd></div>
<div><dt>${say("preview.duration")}</dt><dd>${sayDays(days, say)}</dd></div>
</dl>
${ignored.length > 0 ? html`<p class="muted">${say("preview.ignored", { columns: ignored.join(", ") })}</p>` : undefined}
<h3 id="counts-title">${say("counts.columns.count")}</h3>
${renderTable("counts", say, rows)}
<h3>${say("preview.messages")}</h3>
${messages.length === 0 ? html`<p class="muted">${say("preview.nobody")}</p>` : undefined}
${messages.map(
  ({
    line,
    phone,
    text,
  }) => html`<figure class="message"><figcaption class="muted">${say("preview.line", { line, phone })}</figcaption>
<blockquote lang="id">${text}</blockquote></figure>`,
)}
${renderRejected(preview, view)}`;
};

/** Renders the preview that answers a form. The script keeps it while it polls: the page that it gets has none. */
export const renderPreview = (view: BulkView): Html => {
  const { preview, say } = view;
  return html`<section id="preview" class="card" aria-labelledby="preview-title" data-kept${hiddenUnless(preview !== undefined)}>
<h2 id="preview-title">${say("preview.heading")}</h2>
${preview && renderShown(preview, view)}
</section>`;
};
