import { type Html, html } from "#lib/html.ts";
import { maxBulkDays } from "#lib/notification/bulk.ts";
import { lineOutcomes } from "#lib/notification/bulk-decision.ts";
import type { ShownPreview } from "../state/bulk.ts";
import type { BulkView } from "./bulk-page.ts";
import { hiddenUnless, renderTable } from "./view.ts";

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
