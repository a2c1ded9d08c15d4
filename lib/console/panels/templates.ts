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
  const { name, version, status, author } = one;
  const { operator, say } = view;
  if (!may(view, "operator") || status === "retired") return undefined;
  const retiring = renderVersionForm(
    one,
    "retire",
    say("templates.retireOf", { name, version }),
    say("templates.retire"),
  );
  if (status === "approved") return retiring;
  const approving =
    operator.id.toLowerCase() === author.toLowerCase()
      ? html`<p class="muted">${say("templates.own")}</p>`
      : renderVersionForm(
          one,
          "approve",
          say("templates.approveOf", { name, version }),
          say("templates.approve"),
        );
  return html`${approving}${retiring}`;
};

// explicit roles as in messages.ts
const renderVersion = (one: TemplateVersion, view: BulkView): Html => {
  const { name, version, status, text, author, approver } = one;
  const { say } = view;
  return html`<tr id="template-${name}-${version}" role="row">
<td role="cell"><span class="state ${tones[status]}">${say(`templates.statuses.${status}`)}</span></td>
<td role="cell" data-label="${say("templates.columns.template")}"><code>${name}</code> ${version}</td>
<td role="cell" data-label="${say("templates.columns.text")}"><blockquote lang="id">${text}</blockquote></td>
<td role="cell" data-label="${say("templates.columns.people")}"><span class="long">${say("templates.by", { author })}</span>${
    approver === null
      ? undefined
      : html`<br><span class="long">${say("templates.approvedBy", { approver })}</span>`
  }${renderActions(one, view)}</td>
</tr>`;
};

const renderProposal = (view: BulkView): Html => {
  const { say } = view;
  return html`<details${hiddenUnless(may(view, "operator"))}>
<summary>${say("templates.summary")}</summary>
<form method="post" action="/console/bulk/template-add" enctype="multipart/form-data" class="stack" data-live>
<label for="proposal-name">${say("templates.name")}</label>
<input id="proposal-name" name="template" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="60" pattern="[a-z0-9\\-]+" required>
<label for="proposal-text">${say("templates.newText")}</label>
<textarea id="proposal-text" name="text" rows="6" maxlength="${maxTemplateLength}" required aria-describedby="proposal-text-hint"></textarea>
<p id="proposal-text-hint" class="muted">${say("templates.textHint")}</p>
<label for="proposal-class">${say("templates.class")}</label>
<select id="proposal-class" name="class"><option value="">${say("templates.coded")}</option>${renderClasses(view, "")}</select>
<label for="proposal-values">${say("templates.values")}</label>
<textarea id="proposal-values" name="values" rows="3" spellcheck="false" aria-describedby="proposal-values-hint"></textarea>
<p id="proposal-values-hint" class="muted">${say("templates.valuesHint")}</p>
<div class="buttons"><button class="primary">${say("templates.propose")}</button></div>
</form>
</details>`;
};

/** Renders the texts in the database, and the forms that propose, approve and retire one. */
export const renderTemplates = (view: BulkView): Html => {
  const { say } = view;
  const versions = view.state?.versions ?? [];
  return html`<section id="templates" class="card" aria-labelledby="templates-title">
<h2 id="templates-title">${say("templates.heading")}</h2>
<p>${say("templates.text")}</p>
<p class="muted"${hiddenUnless(versions.length === 0)}>${say(view.state ? "templates.none" : "bulk.unavailable")}</p>
${renderTable(
  "templates",
  say,
  versions.map((one) => renderVersion(one, view)),
)}
${renderProposal(view)}
</section>`;
};
