import { type Html, html } from "#lib/html.ts";
import { maxTemplateLength, type TemplateVersion } from "#lib/notification/template-version.ts";
import { hiddenUnless, may, renderTable } from "../view.ts";
import type { BulkView } from "./bulk.ts";
import { renderClasses } from "./upload.ts";

const tones = { draft: "waiting", approved: "good", retired: "" };

const renderVersionForm = (
  { name, version }: TemplateVersion,
  action: "approve" | "retire",
  label: string,
  button: string,
): Html => html`<form method="post" action="/console/bulk/template-${action}" data-live>
<input type="hidden" name="template" value="${name}"><input type="hidden" name="version" value="${version}">
<button class="${action === "approve" ? "primary" : "plain"}" aria-label="${label}">${button}</button>
</form>`;

const renderActions = (one: TemplateVersion, view: BulkView): Html | undefined => {
  const { approve, approveOf, own, retire, retireOf } = view.words.bulk.templates;
  const { name, version, status, author } = one;
  const { operator } = view;
  if (!may(view, "operator") || status === "retired") return undefined;
  const retiring = renderVersionForm(one, "retire", retireOf(name, version), retire);
  if (status === "approved") return retiring;
  const approving =
    operator.id.toLowerCase() === author.toLowerCase()
      ? html`<p class="muted">${own}</p>`
      : renderVersionForm(one, "approve", approveOf(name, version), approve);
  return html`${approving}${retiring}`;
};

// explicit roles as in messages.ts
const renderVersion = (one: TemplateVersion, view: BulkView): Html => {
  const { name, version, status, text, author, approver } = one;
  const { columns, statuses, by, approvedBy } = view.words.bulk.templates;
  return html`<tr id="template-${name}-${version}" role="row">
<td role="cell"><span class="state ${tones[status]}">${statuses[status]}</span></td>
<td role="cell" data-label="${columns.template}"><code>${name}</code> ${version}</td>
<td role="cell" data-label="${columns.text}"><blockquote lang="id">${text}</blockquote></td>
<td role="cell" data-label="${columns.people}"><span class="long">${by(author)}</span>${
    approver === null ? undefined : html`<br><span class="long">${approvedBy(approver)}</span>`
  }${renderActions(one, view)}</td>
</tr>`;
};

const renderProposal = (view: BulkView): Html => {
  const { templates } = view.words.bulk;
  return html`<details${hiddenUnless(may(view, "operator"))}>
<summary>${templates.summary}</summary>
<form method="post" action="/console/bulk/template-add" enctype="multipart/form-data" class="stack" data-live>
<label for="proposal-name">${templates.name}</label>
<input id="proposal-name" name="template" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="60" pattern="[a-z0-9\\-]+" required>
<label for="proposal-text">${templates.newText}</label>
<textarea id="proposal-text" name="text" rows="6" maxlength="${maxTemplateLength}" required aria-describedby="proposal-text-hint"></textarea>
<p id="proposal-text-hint" class="muted">${templates.textHint}</p>
<label for="proposal-class">${templates.class}</label>
<select id="proposal-class" name="class"><option value="">${templates.coded}</option>${renderClasses(view, "")}</select>
<label for="proposal-values">${templates.values}</label>
<textarea id="proposal-values" name="values" rows="3" spellcheck="false" aria-describedby="proposal-values-hint"></textarea>
<p id="proposal-values-hint" class="muted">${templates.valuesHint}</p>
<div class="buttons"><button class="primary">${templates.propose}</button></div>
</form>
</details>`;
};

/** Renders the texts in the database, and the forms that propose, approve and retire one. */
export const renderTemplates = (view: BulkView): Html => {
  const { heading, text, none, columns } = view.words.bulk.templates;
  const versions = view.state?.versions ?? [];
  return html`<section id="templates" class="card" aria-labelledby="templates-title">
<h2 id="templates-title">${heading}</h2>
<p>${text}</p>
<p class="muted"${hiddenUnless(versions.length === 0)}>${view.state ? none : view.words.bulk.unavailable}</p>
${renderTable(
  "templates",
  columns,
  versions.map((one) => renderVersion(one, view)),
)}
${renderProposal(view)}
</section>`;
};
